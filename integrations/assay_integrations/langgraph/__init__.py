"""LangGraph and LangChain agents with a memory: `create_agent(..., middleware=[AssayMiddleware("memory.db")])`."""

try:
    import langchain.agents.middleware  # noqa: F401

    import langgraph.store.base  # noqa: F401
except ModuleNotFoundError as error:
    from assay.errors import MissingExtraError

    raise MissingExtraError("langgraph", str(error.name)) from error

from assay_integrations.langgraph.middleware import AssayMiddleware
from assay_integrations.langgraph.nodes import NodeMemory, session
from assay_integrations.langgraph.store import AssayStore
from assay_integrations.langgraph.tools import tools

__all__ = ["AssayMiddleware", "AssayStore", "NodeMemory", "session", "tools"]
