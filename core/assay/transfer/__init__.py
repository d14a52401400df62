"""Taking a store elsewhere and bringing it back: backup, restore, export, import."""
