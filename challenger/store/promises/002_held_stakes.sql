-- Claims of promises and batches that hold stake of a prover: whoever waits for that stake ends those that are over.
CREATE TABLE held_stakes (
  -- id of the claim or of the batch
  key TEXT PRIMARY KEY,
  prover TEXT NOT NULL,
  -- of a batch, as releasing it takes it; NULL: a claim
  batch TEXT,
  -- of a batch: second from which on no leaf of it can be opened
  window_end INTEGER,
  block INTEGER NOT NULL,
  -- in which its closing or its release was booked
  ended_block INTEGER
) STRICT;
CREATE INDEX held_stakes_of ON held_stakes (prover) WHERE ended_block IS NULL;
-- All events are followed anew: they say what holds stake. What is known of wrong promises stays.
DELETE FROM watched_promises_cursor;
