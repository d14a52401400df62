-- The tree of the log in tiles of 256 hashes (C2SP tlog-tiles). A tile of level 0 holds leaf hashes and is written once,
-- when it is full; one above holds the roots of full tiles below it, and grows. Derived from `audit`.
CREATE TABLE tile(level INTEGER NOT NULL, n INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY(level, n)) STRICT;

-- Operational: checkpoints as signed notes (C2SP tlog-checkpoint), by the number of entries that they cover.
CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, made INTEGER NOT NULL, note TEXT NOT NULL) STRICT;

-- Derived, outside the log: what the host's embedder made of an episode, little-endian floats of 32 bits and of length
-- one as a vector; and which embedder it was.
CREATE TABLE vector(n INTEGER PRIMARY KEY, floats BLOB NOT NULL) STRICT;
CREATE TABLE embedder(one INTEGER PRIMARY KEY CHECK(one = 1), name TEXT NOT NULL, dimension INTEGER NOT NULL) STRICT;
