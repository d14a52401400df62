"""Agents of smolagents with a memory: `with session("memory.db") as memory: memory.attach(agent)`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.smolagents.memory import AssayAgentMemory, session
    from assay_integrations.smolagents.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("smolagents", error.name or "smolagents") from error

__all__ = ["AssayAgentMemory", "session", "tools"]
