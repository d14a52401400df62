"""Frozen records and closed sets; no I/O, no clock."""
