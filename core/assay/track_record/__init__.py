"""How acting on what was remembered went."""
