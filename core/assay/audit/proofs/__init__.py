"""Proofs that a stranger can check: tiles, checkpoints, signatures, and the stand-alone verifier."""
