-- Events of Promises in chain order, and how far they were followed: apart from Assay's, for a folder may be older than
-- the promises of its deployment. A subject is a signed claim's digest or a batch's id.
CREATE TABLE promise_events (
  block INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  name TEXT NOT NULL,
  subject TEXT,
  body TEXT NOT NULL,
  claim_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.args.claimId')) VIRTUAL,
  prover TEXT GENERATED ALWAYS AS (json_extract(body, '$.args.prover')) VIRTUAL,
  PRIMARY KEY (block, log_index)
) STRICT;
CREATE INDEX promise_events_of_subject ON promise_events (subject);
CREATE INDEX promise_events_of_claim ON promise_events (claim_id);
CREATE INDEX promise_events_of_prover ON promise_events (prover, name);
CREATE TABLE promise_cursor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  body TEXT NOT NULL
) STRICT;
