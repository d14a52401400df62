"""The settings of a store that its operator may change, each with its range."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from assay.errors import InvalidInput
from assay.model.episode import JsonValue

__all__ = ["POLICIES", "Settings"]

RANGES: dict[str, tuple[float, float]] = {
    "continuity_tokens": (500, 50_000),
    "hard_factor": (1.0, 2.0),
    "package_tokens": (8_000, 200_000),
    "episode_tokens": (50, 4_000),
    "max_content_bytes": (1_024, 1_048_576),
    "durable_share": (0.05, 0.40),
    "carry_days": (1, 365),
    "stale_days": (1, 365),
    "conversation_cap": (1, 9),
    "import_level_cap": (1, 9),
    "lease_seconds": (60, 86_400),
    "max_retries": (0, 5),
    "outcome_weight": (0.0, 0.5),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may set; sizes are tokens of the store's counter unless named otherwise.

    Attributes:
        carry_days: Days after its last verification within which a belief keeps its level without fresh
            evidence; None switches carrying off.
        conversation_cap: Highest level that words of user and agent alone can earn.
        requires_baton: Whether a wrap needs the session that holds the baton.
        allow_sole_live: Whether a session needs no baton while nobody holds it and no other session has an open run;
            never under the strict policy.
        policy: One of default, strict, adaptive.
    """

    continuity_tokens: int = 5_000
    hard_factor: float = 1.25
    package_tokens: int = 24_000
    episode_tokens: int = 400
    max_content_bytes: int = 65_536
    durable_share: float = 0.15
    carry_days: int | None = 7
    stale_days: int = 7
    conversation_cap: int = 2
    import_level_cap: int = 2
    lease_seconds: int = 600
    max_retries: int = 2
    outcome_weight: float = 0.15
    requires_baton: bool = False
    allow_sole_live: bool = False
    policy: str = "default"

    def changed(self, **values: JsonValue) -> Settings:
        """Give a copy with some values changed.

        Raises:
            InvalidInput: An unknown name, a wrong type, or a value outside its range.
        """
        known = {field.name for field in fields(self)}
        for name, value in values.items():
            if name not in known:
                raise InvalidInput(name, f"no such setting; known: {', '.join(sorted(known))}")
            self._check(name, value)
        return replace(self, **values)  # type: ignore[arg-type]

    def _check(self, name: str, value: JsonValue) -> None:
        if name == "policy":
            if not isinstance(value, str) or value not in POLICIES:
                raise InvalidInput(name, f"one of {', '.join(POLICIES)}")
        elif name in ("requires_baton", "allow_sole_live"):
            if not isinstance(value, bool):
                raise InvalidInput(name, "true or false")
        elif not (name == "carry_days" and value is None):
            low, high = RANGES[name]
            whole = isinstance(getattr(Settings(), name), int)
            number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
            if not number or not low <= value <= high:  # type: ignore[operator]
                raise InvalidInput(name, f"a number from {low:g} to {high:g}")


# Presets over the same switches. `strict` is never weaker than `default`.
POLICIES: dict[str, dict[str, JsonValue]] = {
    "default": {},
    "strict": {"outcome_weight": 0.0, "requires_baton": True},
    "adaptive": {"outcome_weight": 0.3},
}
