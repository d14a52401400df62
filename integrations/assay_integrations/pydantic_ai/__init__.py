"""Pydantic AI agents with a memory: `Agent(model, capabilities=[AssayCapability("memory.db")])`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.pydantic_ai.capability import AssayCapability
    from assay_integrations.pydantic_ai.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("pydantic-ai", error.name or "pydantic_ai") from error

__all__ = ["AssayCapability", "tools"]
