-- Requests for rounds of feeds, from before they are sent until the round is written or nobody answered. filed is the
-- requester and the order, as the event Requested has them.
CREATE TABLE feed_requests (
  feed TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  model_id TEXT NOT NULL,
  observed_at INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  filed TEXT NOT NULL,
  PRIMARY KEY (feed, input_hash)
) STRICT;
