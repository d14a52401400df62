"""AutoGen AgentChat with a memory: `AssistantAgent(name, client, model_context=memory.context())`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.autogen.agentchat.context import AssayChatCompletionContext
    from assay_integrations.autogen.agentchat.memory import AssayMemory
    from assay_integrations.autogen.agentchat.running import session
    from assay_integrations.autogen.agentchat.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("autogen", error.name or "autogen_agentchat") from error

__all__ = ["AssayChatCompletionContext", "AssayMemory", "session", "tools"]
