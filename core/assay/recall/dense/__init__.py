"""Optional vectors: the host gives an embedder, and what it finds alike moves up among what shares words."""
