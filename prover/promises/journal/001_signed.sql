-- What this prover has signed: written before anybody sees the signature. What is owed on the chain can be answered
-- without it; it says what is to be batched, and what became of an answer.
CREATE TABLE signed (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  model_id BLOB NOT NULL,
  requester BLOB NOT NULL,
  issued_at INTEGER NOT NULL,
  expiry INTEGER NOT NULL,
  min_bond TEXT NOT NULL,
  salt TEXT NOT NULL,
  signature BLOB NOT NULL,
  input BLOB NOT NULL,
  output BLOB NOT NULL,
  -- the leaf of what is to be batched
  payload BLOB,
  batch BLOB,
  leaf INTEGER
) STRICT;
CREATE INDEX signed_to_batch ON signed (model_id, id) WHERE payload IS NOT NULL AND batch IS NULL;
CREATE INDEX signed_by_batch ON signed (batch, leaf) WHERE batch IS NOT NULL;
CREATE INDEX signed_by_expiry ON signed (expiry);
-- Batches that were made: each is sent under its id until the chain has it.
CREATE TABLE batches (
  id BLOB PRIMARY KEY,
  model_id BLOB NOT NULL,
  window INTEGER NOT NULL,
  count INTEGER NOT NULL,
  root BLOB NOT NULL,
  leaf_bond TEXT NOT NULL,
  data BLOB NOT NULL,
  is_posted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX batches_to_post ON batches (is_posted) WHERE is_posted = 0;
CREATE TABLE signer (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  chain_id INTEGER NOT NULL,
  promises BLOB NOT NULL,
  prover BLOB NOT NULL,
  block_hash BLOB NOT NULL
) STRICT;
