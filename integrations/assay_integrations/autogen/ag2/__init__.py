"""AG2 agents with a memory: `Agent(name, config=config, middleware=[AssayMiddleware("memory.db")])`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.autogen.ag2.knowledge import AssayKnowledgeStore
    from assay_integrations.autogen.ag2.middleware import AssayMiddleware
    from assay_integrations.autogen.ag2.plugin import AssayPlugin
    from assay_integrations.autogen.ag2.policies import AssayAggregateStrategy, AssayAssemblyPolicy
    from assay_integrations.autogen.ag2.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("ag2", error.name or "ag2") from error

__all__ = [
    "AssayAggregateStrategy",
    "AssayAssemblyPolicy",
    "AssayKnowledgeStore",
    "AssayMiddleware",
    "AssayPlugin",
    "tools",
]
