"""Removing text from every tier, and what an operator does to keep a store healthy."""
