"""How many tokens a text takes in a model's vocabulary."""

__all__ = ["estimate_tokens"]


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return len(text.encode("utf-8", "replace")) // 3 + 1
