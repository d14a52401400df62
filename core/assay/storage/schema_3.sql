-- Derived, beside `posting`: the places of a long list as a bit map, as far as the map reaches.
CREATE TABLE place_map(posting INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;
