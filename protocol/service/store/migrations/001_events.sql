-- Events of requests that are not over yet, in chain order, and how far the chain was followed.
CREATE TABLE events (
  block INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (block, log_index)
) STRICT;
CREATE INDEX events_of_request ON events (request_id);
CREATE TABLE cursor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  body TEXT NOT NULL
) STRICT;
