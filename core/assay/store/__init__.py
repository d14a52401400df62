"""The store: one entity's memory in one SQLite file."""

from assay.store.facade import Store

__all__ = ["Store"]
