"""Recording what happened, and how episodes relate to one another."""
