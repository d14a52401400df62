"""What a bench found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """The goal in words, whether it was met, and the figures by name."""

    goal: str
    met: bool
    figures: Mapping[str, float]
