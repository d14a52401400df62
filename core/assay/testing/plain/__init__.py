"""A host without a framework, its binding, and its harness: the worked example of the contract."""

from assay.testing.plain.harness import PlainHarness
from assay.testing.plain.host import Hooks, PlainAgent
from assay.testing.plain.memory import PlainMemory

__all__ = ["Hooks", "PlainAgent", "PlainHarness", "PlainMemory"]
