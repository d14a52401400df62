"""CAMEL agents with a memory: `AssayChatAgent("You help.", memory=AssayAgentMemory("memory.db"))`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.camel_ai.agent import AssayChatAgent
    from assay_integrations.camel_ai.block import AssayMemoryBlock
    from assay_integrations.camel_ai.memory import AssayAgentMemory
    from assay_integrations.camel_ai.tools import tools
    from assay_integrations.camel_ai.workforce import AssayWorkforceCallback
except ImportError as error:  # not only its absence: beside mcp 2, CAMEL cannot be imported
    raise MissingExtraError("camel-ai", f"camel-ai beside mcp<2 ({error})") from error

__all__ = ["AssayAgentMemory", "AssayChatAgent", "AssayMemoryBlock", "AssayWorkforceCallback", "tools"]
