-- Derived, before `posting`: what the index took in since its lists were last added to, a run for each time, with its
-- terms in order. Added to at every turn, the long lists would be most of what the log holds.
CREATE TABLE posting_run(
  first INTEGER PRIMARY KEY, terms BLOB NOT NULL, ends BLOB NOT NULL, docs BLOB NOT NULL, chunks BLOB NOT NULL,
  freqs BLOB NOT NULL, lengths BLOB NOT NULL) STRICT;
