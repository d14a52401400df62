"""LangGraph and LangChain agents with a memory: `create_agent(..., middleware=[AssayMiddleware("memory.db")])`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.langgraph.middleware import AssayMiddleware
    from assay_integrations.langgraph.nodes import NodeMemory, session
    from assay_integrations.langgraph.store import AssayStore
    from assay_integrations.langgraph.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("langgraph", error.name or "langchain") from error

__all__ = ["AssayMiddleware", "AssayStore", "NodeMemory", "session", "tools"]
