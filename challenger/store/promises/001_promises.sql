-- Batches whose leaves are not all compared yet, with their data: a restart goes on with them.
CREATE TABLE unchecked_batches (
  batch_id TEXT PRIMARY KEY,
  block INTEGER NOT NULL,
  window_end INTEGER NOT NULL,
  batch TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;
-- Promises that the canonical executor found wrong, with all that opening them takes, until nothing is left to do.
CREATE TABLE wrong_promises (
  -- digest of a signed claim, or batch and index of a leaf
  key TEXT PRIMARY KEY,
  -- whose stake it is about: the prover of a signed claim, or the batch
  origin TEXT NOT NULL,
  -- in which a leaf was posted; a signed claim is none of a block
  block INTEGER,
  promise TEXT NOT NULL,
  -- what it became, and in which block
  claim_id TEXT,
  claim_block INTEGER,
  -- wei of this account that opened it
  deposit TEXT NOT NULL DEFAULT '0',
  -- head at which nothing was left to do
  over_block INTEGER
) STRICT;
CREATE INDEX wrong_promises_of ON wrong_promises (origin) WHERE over_block IS NULL;
CREATE TABLE watched_promises_cursor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  body TEXT NOT NULL
) STRICT;
