-- Signed payments for signed answers, each bound to one input: one signature moves tokens once, so it buys once.
CREATE TABLE signed_sales (
  payer TEXT NOT NULL,
  nonce TEXT NOT NULL,
  model TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  placed_at INTEGER NOT NULL,
  -- seconds since 1970
  valid_until INTEGER NOT NULL,
  -- the payment as the facilitator is told of it; NULL: it was not asked
  signed TEXT,
  -- of the signed claim that it buys; NULL: nothing is signed for it yet
  digest TEXT,
  -- asked: the facilitator was told to take it, and its answer is not known
  state TEXT NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'asked', 'taken')),
  -- the header that tells the payer; NULL: it only counts as taken
  receipt TEXT,
  PRIMARY KEY (payer, nonce)
) STRICT;
CREATE INDEX signed_sales_by_time ON signed_sales (placed_at);
