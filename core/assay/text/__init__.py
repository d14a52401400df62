"""Text, compared in one place and in every language."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.text.clipping import clip, sentences
    from assay.text.compare import covers, near, weight
    from assay.text.denial import Polarity, agrees, polarity
    from assay.text.forms import Value, ValueType
    from assay.text.normal import canon, fold, skeleton
    from assay.text.reading import values
    from assay.text.secrets import redact
    from assay.text.segment import words
    from assay.text.tokens import estimate_tokens
    from assay.text.vocabulary import content, content_set, query_terms, terms

__all__ = ["canon", "clip", "content", "content_set", "fold", "query_terms", "sentences", "skeleton", "terms", "words"]
__all__ += ["Polarity", "Value", "ValueType", "polarity", "values"]
__all__ += ["agrees", "covers", "estimate_tokens", "near", "redact", "weight"]

# Loaded name by name: a process that records needs `secrets` alone. No module bears the name of a function.
_HOME = {
    "clipping": "clip sentences",
    "compare": "covers near weight",
    "denial": "Polarity agrees polarity",
    "forms": "Value ValueType",
    "normal": "canon fold skeleton",
    "reading": "values",
    "secrets": "redact",
    "segment": "words",
    "tokens": "estimate_tokens",
    "vocabulary": "content content_set query_terms terms",
}


def __getattr__(name: str) -> Any:
    """Load one of the room's names when it is first asked for."""
    from importlib import import_module

    for module, names in _HOME.items():
        if name in names.split():
            globals()[name] = found = getattr(import_module(f"{__name__}.{module}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
