"""The `assay` command: parse, call the store, print."""

from assay.cli.entry import main

__all__ = ["main"]
