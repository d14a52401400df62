"""The clauses of the contract, by what they are about."""
