-- Requests for prompts of executors whose choices are final outputs. filed is the requester and the order, as the event
-- Requested has them; asked_at is in seconds; is_open is 1 until the output is final or the fee is back.
CREATE TABLE choice_requests (
  executor TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  model_id TEXT NOT NULL,
  filed TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  is_open INTEGER NOT NULL,
  PRIMARY KEY (executor, input_hash)
) STRICT;
CREATE INDEX choice_requests_by_time ON choice_requests (asked_at);
