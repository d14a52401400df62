"""Consolidation: a model rewrites the document, and only what its evidence earned is believed."""
