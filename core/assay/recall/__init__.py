"""Finding what answers a question, and fitting it into a prompt."""
