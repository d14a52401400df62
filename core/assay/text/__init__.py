"""Text, compared in one place and in every language."""

from assay.text.compare import containment, covers, near, weight
from assay.text.content import content, content_set, query_terms, terms
from assay.text.forms import Value, ValueType
from assay.text.normal import canon, fold, skeleton
from assay.text.polarity import Polarity, agrees, polarity
from assay.text.redact import redact
from assay.text.segment import words
from assay.text.sentences import clip, sentences
from assay.text.strength import Strength, strength
from assay.text.tokens import estimate_tokens
from assay.text.values import values

__all__ = ["canon", "clip", "content", "content_set", "fold", "query_terms", "sentences", "skeleton", "terms", "words"]
__all__ += ["Polarity", "Strength", "Value", "ValueType", "polarity", "strength", "values"]
__all__ += ["agrees", "containment", "covers", "estimate_tokens", "near", "redact", "weight"]
