"""A tracer that tells a memory of runs that fail, beside the tracer that is there."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from assay_integrations.haystack.place import failing
from haystack.tracing.tracer import Span, Tracer, enable_tracing, tracer

__all__ = ["AssayTracer"]

_RUN = "haystack.agent.run"


class AssayTracer(Tracer):
    """Records how runs fail, for all memories of a program: no hook of the host is told.

    Every span goes to the tracer that was there before, which is there again when the block ends.

    Example:
        with AssayTracer():
            agent.run(messages)
    """

    def __init__(self) -> None:
        self._theirs = tracer.actual_tracer

    def __enter__(self) -> AssayTracer:
        """Stand before the tracer that is there."""
        self._theirs = tracer.actual_tracer
        enable_tracing(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Give the other tracer back its place."""
        enable_tracing(self._theirs)

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Generator[Span]:
        """Give a span of the other tracer."""
        with self._theirs.trace(operation_name, tags=tags, parent_span=parent_span) as span:
            if operation_name == _RUN:
                with failing():
                    yield span
            else:
                yield span

    def current_span(self) -> Span | None:
        """Give the span of the other tracer."""
        return self._theirs.current_span()
