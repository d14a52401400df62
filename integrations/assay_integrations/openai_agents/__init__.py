"""OpenAI Agents with a memory: `await AssayRunner("memory.db").run(agent, "hello")`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.openai_agents.conversation import AssaySession
    from assay_integrations.openai_agents.runner import AssayRunner
    from assay_integrations.openai_agents.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("openai-agents", error.name or "agents") from error

__all__ = ["AssayRunner", "AssaySession", "tools"]
