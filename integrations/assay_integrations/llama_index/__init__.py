"""LlamaIndex agents with a memory: `async with session("memory.db") as memory: agent.run("Hi", memory=memory)`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.llama_index.block import AssayMemoryBlock
    from assay_integrations.llama_index.memory import AssayMemory, session
    from assay_integrations.llama_index.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("llama-index", error.name or "llama_index") from error

__all__ = ["AssayMemory", "AssayMemoryBlock", "session", "tools"]
