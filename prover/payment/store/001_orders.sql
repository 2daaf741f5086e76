-- Final outputs that callers of HTTP ordered, one row an order: written before its request is sent.
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  -- what this node computed, and what has to become final
  output_hash TEXT NOT NULL,
  -- the request that this node files for it; NULL: somebody else's was under way
  request TEXT,
  placed_at INTEGER NOT NULL,
  -- open: under way, or final and its payment under way; void: it cannot become final any more
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'paid', 'unpaid', 'void')),
  ended_at INTEGER
) STRICT;

CREATE UNIQUE INDEX orders_by_input ON orders (model, input_hash) WHERE state IN ('open', 'unpaid');
CREATE UNIQUE INDEX orders_by_request ON orders (request) WHERE request IS NOT NULL;
CREATE INDEX orders_by_state ON orders (state, ended_at);

-- Signed payments, each bound to one order. One signature moves tokens once, so it buys once.
CREATE TABLE payments (
  payer TEXT NOT NULL,
  nonce TEXT NOT NULL,
  order_id INTEGER NOT NULL REFERENCES orders (id),
  -- payload and terms as the facilitator takes them
  signed TEXT NOT NULL,
  -- seconds since 1970
  valid_until INTEGER NOT NULL,
  -- asked: the facilitator was told to take it, and its answer is not known
  state TEXT NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'asked', 'taken', 'refused')),
  reason TEXT,
  -- the header that tells the payer
  receipt TEXT,
  PRIMARY KEY (payer, nonce)
) STRICT;

CREATE INDEX payments_by_order ON payments (order_id);
