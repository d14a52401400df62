"""CrewAI crews and agents with a memory: `with session("memory.db"): crew.kickoff()`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.crewai.listener import AssayEventListener, session
    from assay_integrations.crewai.memory import AssayMemory
    from assay_integrations.crewai.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("crewai", error.name or "crewai") from error

__all__ = ["AssayEventListener", "AssayMemory", "session", "tools"]
