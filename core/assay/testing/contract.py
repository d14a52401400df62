"""The contract: what every binding of a host must show, through the host's own runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from assay.testing.clauses.faults import FaultClauses
from assay.testing.clauses.house import HouseClauses
from assay.testing.clauses.injection import InjectionClauses
from assay.testing.clauses.isolation import IsolationClauses
from assay.testing.clauses.loops import LoopClauses
from assay.testing.clauses.manners import MannersClauses
from assay.testing.clauses.recording import RecordingClauses
from assay.testing.clauses.runs import RunClauses
from assay.testing.clauses.wrapping import WrapClauses
from assay.testing.harness import Capability, Harness
from assay.testing.stage import Stage

__all__ = ["AdapterContract", "deviates"]

F = TypeVar("F", bound=Callable[..., object])
_MARK = "__assay_deviation__"


def deviates(reason: str) -> Callable[[F], F]:
    """Mark a clause that a binding replaces by one of its own; the replacement still asserts something.

    Args:
        reason: What the host does differently; it is printed in the binding's documentation.
    """
    if not reason.strip():
        raise TypeError("a deviation needs its reason")

    def mark(test: F) -> F:
        setattr(test, _MARK, reason)
        return test

    return mark


class AdapterContract(
    InjectionClauses,
    RecordingClauses,
    RunClauses,
    WrapClauses,
    FaultClauses,
    IsolationClauses,
    LoopClauses,
    MannersClauses,
    HouseClauses,
):
    """Subclass it, give the `harness` fixture, and say in `lacks` what the host cannot show, each with a reason."""

    lacks: ClassVar[Mapping[Capability, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in cls.__dict__.items():
            replaced = name.startswith("test_") and any(name in parent.__dict__ for parent in cls.__mro__[1:])
            if replaced and not getattr(member, _MARK, ""):
                raise TypeError(f"{cls.__name__}.{name} replaces a clause: mark it with @deviates('reason')")
        for capability, reason in cls.lacks.items():
            if not reason.strip():
                raise TypeError(f"{cls.__name__}.lacks: {capability.value} needs its reason")

    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness[Any]:
        """Give the harness of the host."""
        raise NotImplementedError("a binding's test class gives the `harness` fixture")

    @pytest.fixture
    def stage(self, harness: Harness[Any], tmp_path: Path) -> Iterator[Stage]:
        """Give the clause its stage, and verify every store when it is done."""
        stage = Stage(harness, tmp_path / "stage", self.lacks)
        yield stage
        stage.close()
