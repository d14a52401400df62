"""The Merkle audit log: entries written in the caller's transaction, and their verification."""
