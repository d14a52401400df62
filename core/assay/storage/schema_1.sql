-- Audited tables: each row carries the salt of its commitment and the seq of the entry that last wrote it.
CREATE TABLE episode(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, content TEXT NOT NULL, happened INTEGER NOT NULL,
  recorded INTEGER NOT NULL, origin TEXT NOT NULL, source TEXT NOT NULL, session TEXT, run TEXT, trust TEXT NOT NULL,
  success INTEGER, state_key TEXT, tags TEXT NOT NULL, metadata TEXT NOT NULL, idem TEXT, verdict TEXT NOT NULL,
  text_hash BLOB NOT NULL, key_hash BLOB, quarantined INTEGER NOT NULL, salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT;
CREATE INDEX episode_text ON episode(text_hash);
CREATE UNIQUE INDEX episode_idem ON episode(idem) WHERE idem IS NOT NULL;
CREATE INDEX episode_key ON episode(key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX episode_session ON episode(session) WHERE session IS NOT NULL;
CREATE TABLE tombstone(
  id TEXT PRIMARY KEY, n INTEGER NOT NULL, erased INTEGER NOT NULL, reason TEXT NOT NULL, idem TEXT,
  salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_number ON tombstone(n);
CREATE INDEX tombstone_idem ON tombstone(idem) WHERE idem IS NOT NULL;
CREATE TABLE edge(
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL, reason TEXT NOT NULL,
  made_by TEXT NOT NULL, inferred INTEGER NOT NULL, effective_from INTEGER NOT NULL, made INTEGER NOT NULL,
  salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX edge_source ON edge(source);
CREATE INDEX edge_target ON edge(target);
CREATE TABLE belief(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, name_key TEXT NOT NULL, text TEXT NOT NULL, kind TEXT NOT NULL, level INTEGER NOT NULL,
  highest INTEGER NOT NULL, residence TEXT NOT NULL, section TEXT NOT NULL, position INTEGER NOT NULL, marks TEXT NOT NULL,
  cues TEXT NOT NULL, created INTEGER NOT NULL, verified INTEGER, wraps_verified INTEGER NOT NULL,
  salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE evidence(
  id TEXT PRIMARY KEY, belief TEXT NOT NULL, episode TEXT NOT NULL, wrap INTEGER NOT NULL, explanation TEXT NOT NULL,
  earned INTEGER NOT NULL, detail TEXT NOT NULL, salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_belief ON evidence(belief);
CREATE INDEX evidence_episode ON evidence(episode);
CREATE TABLE wrap(
  id TEXT PRIMARY KEY, n INTEGER NOT NULL UNIQUE, state TEXT NOT NULL, token_hash TEXT NOT NULL, session TEXT NOT NULL,
  window TEXT NOT NULL, schema TEXT NOT NULL, date TEXT NOT NULL, base_version INTEGER NOT NULL, lease_until INTEGER NOT NULL,
  prepared INTEGER NOT NULL, ended INTEGER, retries INTEGER NOT NULL, detail TEXT NOT NULL,
  salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE document(
  id TEXT PRIMARY KEY, version INTEGER NOT NULL UNIQUE, body TEXT NOT NULL, wrap INTEGER, digest TEXT NOT NULL,
  made INTEGER NOT NULL, detail TEXT NOT NULL, salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE draft(
  id TEXT PRIMARY KEY, body TEXT NOT NULL, wrap INTEGER NOT NULL, made INTEGER NOT NULL,
  salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE result(
  id TEXT PRIMARY KEY, subject TEXT NOT NULL, worked INTEGER NOT NULL, note TEXT NOT NULL, episode TEXT, made INTEGER NOT NULL,
  salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX result_subject ON result(subject);
CREATE TABLE setting(id TEXT PRIMARY KEY, value TEXT NOT NULL, salt BLOB NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The audit log: the bytes of an entry are what is hashed. `head` is the newest state of the Merkle tree.
CREATE TABLE audit(seq INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT;
CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), size INTEGER NOT NULL, ts INTEGER NOT NULL, root BLOB NOT NULL, frontier BLOB NOT NULL) STRICT;
CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

-- Derived: the search index, rebuilt from `episode` at any time. A term is a keyed hash: pages that SQLite has split or
-- merged may keep stale bytes, and these must not spell an erased word.
CREATE TABLE posting(
  id INTEGER PRIMARY KEY, term INTEGER NOT NULL, segment INTEGER NOT NULL, df INTEGER NOT NULL, docs BLOB NOT NULL,
  chunks BLOB NOT NULL, freqs BLOB NOT NULL, lengths BLOB NOT NULL, UNIQUE(term, segment)) STRICT;
CREATE TABLE index_state(one INTEGER PRIMARY KEY CHECK(one = 1), flushed INTEGER NOT NULL, docs INTEGER NOT NULL, chunks INTEGER NOT NULL, length INTEGER NOT NULL, tokeniser INTEGER NOT NULL) STRICT;

-- Operational: outside the log, ignored by replay.
CREATE TABLE pending_erase(id TEXT PRIMARY KEY, asked INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE run(
  session TEXT NOT NULL, id TEXT NOT NULL, user TEXT, state TEXT NOT NULL, started INTEGER NOT NULL, touched INTEGER NOT NULL,
  ended INTEGER, PRIMARY KEY(session, id)) STRICT, WITHOUT ROWID;
CREATE INDEX run_touched ON run(touched);
CREATE TABLE receipt(
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, run TEXT, made INTEGER NOT NULL, refs TEXT NOT NULL, fingerprints TEXT NOT NULL) STRICT;
CREATE TABLE fault(
  code TEXT PRIMARY KEY, count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, detail TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
