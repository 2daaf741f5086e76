-- What a daemon must know besides its transactions, whichever of those that share a journal signs: a key, when it was
-- written, and a text or none.
CREATE TABLE notes (
  key TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  body TEXT,
  revision INTEGER,
  fence INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_by_revision ON notes (revision);
