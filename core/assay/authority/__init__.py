"""Who may consolidate."""
