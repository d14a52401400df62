"""Haystack agents with a memory: `AssayHook("memory.db").attach(agent)`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.haystack.components import AssayMemoryRetriever, AssayMemoryWriter
    from assay_integrations.haystack.hooks import AssayHook, session
    from assay_integrations.haystack.tools import tools
    from assay_integrations.haystack.tracer import AssayTracer
except ModuleNotFoundError as error:
    raise MissingExtraError("haystack", error.name or "haystack") from error

__all__ = ["AssayHook", "AssayMemoryRetriever", "AssayMemoryWriter", "AssayTracer", "session", "tools"]
