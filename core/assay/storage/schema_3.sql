-- Derived, beside `posting`: the places of a long list as a bit map, as far as the map reaches.
CREATE TABLE place_map(posting INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;

-- So that a search leaves out what is in quarantine before it chooses.
CREATE INDEX episode_quarantined ON episode(n) WHERE quarantined <> 0;
