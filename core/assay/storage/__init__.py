"""The only room with SQL: connections, the writer queue, transactions, the schema."""
