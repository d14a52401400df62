"""DSPy programs with a memory: `with session("memory.db"): program(question="...")`."""

from assay.session import MissingExtraError

try:
    from assay_integrations.dspy.callback import AssayCallback
    from assay_integrations.dspy.module import AssayModule, session
    from assay_integrations.dspy.tools import tools
except ModuleNotFoundError as error:
    raise MissingExtraError("dspy", error.name or "dspy") from error

__all__ = ["AssayCallback", "AssayModule", "session", "tools"]
