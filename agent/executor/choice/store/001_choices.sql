-- Requests for prompts of executors whose choices are final outputs. filed is the requester and the order, as the event
-- Requested has them.
CREATE TABLE choice_requests (
  executor TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  model_id TEXT NOT NULL,
  filed TEXT NOT NULL,
  PRIMARY KEY (executor, input_hash)
) STRICT;
