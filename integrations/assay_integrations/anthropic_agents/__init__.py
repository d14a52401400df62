"""Claude agents with a memory: `async with AssaySDKClient("memory.db") as client: ...`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.anthropic_agents.client import AssaySDKClient
    from assay_integrations.anthropic_agents.hooks import AssayHooks, session
    from assay_integrations.anthropic_agents.store import AssaySessionStore
    from assay_integrations.anthropic_agents.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("anthropic-agents", error.name or "claude_agent_sdk") from error

__all__ = ["AssayHooks", "AssaySDKClient", "AssaySessionStore", "session", "tools"]
