-- The tree of the log in tiles of 256 hashes (C2SP tlog-tiles). A tile of level 0 holds leaf hashes and is written once,
-- when it is full; one above holds the roots of full tiles below it, and grows. Derived from `audit`.
CREATE TABLE tile(level INTEGER NOT NULL, n INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY(level, n)) STRICT;

-- Operational: checkpoints as signed notes (C2SP tlog-checkpoint), by the number of entries that they cover.
CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, made INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
