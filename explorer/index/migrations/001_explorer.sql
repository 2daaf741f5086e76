-- The events of a deployment, and what the pages ask for, derived from them: all of it can be dropped and made anew from
-- the chain. The text is SQLite's and, but for its types, PostgreSQL's. What is compared by its beginning or put in order
-- says that bytes decide.
CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  body TEXT NOT NULL
) STRICT;
-- Assay's events of requests, in chain order.
CREATE TABLE events (
  block INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  claim_id TEXT,
  body TEXT NOT NULL,
  PRIMARY KEY (block, log_index)
) STRICT;
CREATE INDEX events_of_request ON events (request_id, block, log_index);
CREATE INDEX events_of_claim ON events (claim_id, block, log_index);
-- Those of Promises. A subject is a signed claim's digest or a batch's id.
CREATE TABLE promise_events (
  block INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  name TEXT NOT NULL,
  subject TEXT,
  claim_id TEXT,
  body TEXT NOT NULL,
  PRIMARY KEY (block, log_index)
) STRICT;
CREATE INDEX promise_events_of_subject ON promise_events (subject);
CREATE INDEX promise_events_of_claim ON promise_events (claim_id);
CREATE TABLE blocks (
  number INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  time INTEGER NOT NULL
) STRICT;
CREATE INDEX blocks_by_time ON blocks (time, number);
CREATE TABLE transactions (
  hash TEXT COLLATE BINARY PRIMARY KEY,
  block INTEGER NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT,
  gas_used INTEGER NOT NULL,
  fee TEXT NOT NULL,
  -- of one that convicted
  input TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX transactions_of_block ON transactions (block, hash);
-- Every event. seq is block * 2^20 + log index.
CREATE TABLE moves (
  seq INTEGER PRIMARY KEY,
  tx TEXT COLLATE BINARY NOT NULL,
  name TEXT NOT NULL,
  request_id TEXT,
  claim_id TEXT,
  model_id TEXT,
  account TEXT,
  body TEXT NOT NULL,
  batch_id TEXT,
  digest TEXT
) STRICT;
CREATE INDEX moves_of_transaction ON moves (tx, seq);
CREATE INDEX moves_of_name ON moves (name, seq);
CREATE INDEX moves_of_request ON moves (request_id, seq);
CREATE INDEX moves_of_claim ON moves (claim_id, seq);
CREATE INDEX moves_of_model ON moves (model_id, seq);
CREATE INDEX moves_of_model_and_name ON moves (model_id, name, seq);
CREATE INDEX moves_of_account ON moves (account, seq);
CREATE INDEX moves_of_account_and_name ON moves (account, name, seq);
CREATE INDEX moves_of_batch ON moves (batch_id, seq) WHERE batch_id IS NOT NULL;
CREATE INDEX moves_of_digest ON moves (digest, seq) WHERE digest IS NOT NULL;
CREATE TABLE models (
  id TEXT COLLATE BINARY PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,
  word TEXT NOT NULL,
  tx TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- The columns beside `body` are what lists are filtered by: each index holds them all, so that no filter reads a body
-- that is not shown.
CREATE TABLE requests (
  id TEXT COLLATE BINARY PRIMARY KEY,
  seq INTEGER NOT NULL,
  state TEXT NOT NULL,
  model TEXT NOT NULL,
  requester TEXT NOT NULL,
  lane INTEGER,
  -- from request to final output
  seconds INTEGER,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_in_order ON requests (seq, state, model, requester, lane);
CREATE INDEX requests_of_state ON requests (state, seq, model, requester, lane);
CREATE INDEX requests_of_model ON requests (model, seq, state, requester, lane);
CREATE INDEX requests_of_requester ON requests (requester, seq, state, model, lane);
CREATE INDEX requests_of_lane ON requests (lane, seq, state, model, requester);
CREATE INDEX requests_by_seconds ON requests (lane, seconds);
CREATE INDEX requests_of_model_by_seconds ON requests (model, lane, seconds);
CREATE TABLE claims (
  id TEXT COLLATE BINARY PRIMARY KEY,
  seq INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  state TEXT NOT NULL,
  model TEXT NOT NULL,
  prover TEXT NOT NULL,
  fall TEXT,
  tickets INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Without tickets, so that SQLite looks for those with some in the index that has them alone.
CREATE INDEX claims_in_order ON claims (seq, state, model, prover, fall);
CREATE INDEX claims_of_request ON claims (request_id, seq);
CREATE INDEX claims_of_state ON claims (state, fall, seq, model, prover, tickets);
CREATE INDEX claims_of_model ON claims (model, seq, state, prover, fall, tickets);
CREATE INDEX claims_of_prover ON claims (prover, seq, state, model, fall, tickets);
CREATE INDEX claims_disputed ON claims (seq, state, model, prover, fall) WHERE tickets > 0;
CREATE TABLE tickets (
  claim_id TEXT NOT NULL,
  account TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (account, seq, claim_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tickets_of_claim ON tickets (claim_id);
-- Batches, and signed claims that somebody opened.
CREATE TABLE batches (
  id TEXT COLLATE BINARY PRIMARY KEY,
  seq INTEGER NOT NULL,
  tx TEXT NOT NULL,
  model TEXT NOT NULL,
  prover TEXT NOT NULL,
  leaves INTEGER NOT NULL,
  -- second from which on it is final unless a leaf is opened; null while one is open, and of one that fell
  final_at INTEGER,
  is_fallen INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_in_order ON batches (seq, model, prover, is_fallen, final_at);
CREATE INDEX batches_of_model ON batches (model, seq, prover, is_fallen, final_at);
CREATE INDEX batches_of_prover ON batches (prover, seq, model, is_fallen, final_at);
CREATE INDEX batches_of_transaction ON batches (tx, leaves);
CREATE INDEX batches_by_end ON batches (is_fallen, final_at, leaves);
CREATE TABLE signed_claims (
  id TEXT COLLATE BINARY PRIMARY KEY,
  seq INTEGER NOT NULL,
  state TEXT NOT NULL,
  model TEXT NOT NULL,
  prover TEXT NOT NULL,
  -- seq of the event by which it joined the queue last; null of one that does not wait
  joined INTEGER,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX signed_claims_in_order ON signed_claims (seq, state, model, prover);
CREATE INDEX signed_claims_of_state ON signed_claims (state, seq, model, prover);
CREATE INDEX signed_claims_of_model ON signed_claims (model, seq, state, prover);
CREATE INDEX signed_claims_of_prover ON signed_claims (prover, seq, state, model);
CREATE INDEX signed_claims_that_wait ON signed_claims (prover, joined) WHERE joined IS NOT NULL;
-- Counts and amounts that events add to. last is the seq of the newest event that did.
CREATE TABLE sums (
  scope TEXT NOT NULL,
  id TEXT COLLATE BINARY NOT NULL,
  day INTEGER NOT NULL,
  last INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (scope, id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX sums_by_last ON sums (scope, last, id);
-- Addresses are kept with their checksum, and searched for without.
CREATE INDEX sums_by_letters ON sums (scope, lower(id), id);
-- What a sum was before a block changed it; for as many blocks as a re-org can take back one by one.
CREATE TABLE undo (
  block INTEGER NOT NULL,
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  day INTEGER NOT NULL,
  last INTEGER,
  body TEXT,
  PRIMARY KEY (block, scope, id, day)
) STRICT, WITHOUT ROWID;
