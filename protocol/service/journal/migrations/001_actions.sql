-- What belongs to which chain and key: one folder serves one account on one deployment.
CREATE TABLE owner (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chain_id INTEGER NOT NULL,
  assay TEXT NOT NULL,
  block_hash TEXT NOT NULL,
  account TEXT NOT NULL
) STRICT;

-- One row an effect on the chain. Written before anything is sent.
--   signed     a transaction may be anywhere between here and a block
--   mined      in a block that may still be re-organized away
--   done       in a block deep enough
--   reverted   mined, but refused by the contract; its nonce is used up
--   displaced  another transaction of the same account used its nonce
CREATE TABLE actions (
  key TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('signed', 'mined', 'done', 'reverted', 'displaced')),
  nonce INTEGER NOT NULL CHECK (nonce >= 0),
  target TEXT NOT NULL,
  data BLOB NOT NULL,
  value TEXT NOT NULL,
  gas TEXT NOT NULL,
  signed_at_ms INTEGER NOT NULL,
  hash TEXT,
  block_number INTEGER,
  block_hash TEXT,
  gas_used TEXT,
  gas_price TEXT,
  revert TEXT
) STRICT, WITHOUT ROWID;

-- Two effects never share a nonce.
CREATE UNIQUE INDEX actions_by_nonce ON actions (nonce) WHERE state <> 'displaced';
CREATE INDEX actions_by_state ON actions (state);

-- Every transaction that was ever signed for an effect; those of one nonce replace each other.
CREATE TABLE transactions (
  hash TEXT PRIMARY KEY,
  key TEXT NOT NULL REFERENCES actions (key),
  nonce INTEGER NOT NULL,
  raw BLOB NOT NULL,
  max_fee TEXT NOT NULL,
  max_priority_fee TEXT NOT NULL,
  signed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX transactions_by_key ON transactions (key, nonce);
