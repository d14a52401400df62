"""Agents of AG2 before its 1.0 with a memory: `memory.attach(agent)` inside `with session("memory.db") as memory:`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.autogen.ag2_classic.running import session
    from assay_integrations.autogen.ag2_classic.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("ag2-classic", error.name or "autogen") from error

__all__ = ["session", "tools"]
