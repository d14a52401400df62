"""Google ADK agents with a memory: `App(name=..., root_agent=..., plugins=[AssayPlugin("memory.db")])`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.google_adk.plugin import AssayPlugin
    from assay_integrations.google_adk.service import AssayMemoryService
    from assay_integrations.google_adk.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("google-adk", "google.adk") from error

__all__ = ["AssayMemoryService", "AssayPlugin", "tools"]
