"""Beliefs: what the store holds, on what evidence, and how far that evidence carries."""
