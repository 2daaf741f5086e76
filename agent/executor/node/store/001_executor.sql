CREATE TABLE agent_events (
  agent TEXT NOT NULL,
  run_id TEXT NOT NULL,
  block_number INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  event TEXT NOT NULL,
  PRIMARY KEY (block_number, log_index)
) STRICT;
CREATE INDEX agent_events_by_run ON agent_events (agent, run_id);

CREATE TABLE agent_cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  agents TEXT NOT NULL,
  cursor TEXT NOT NULL
) STRICT;

CREATE TABLE transcripts (
  hash TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  run_id TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  history_hash TEXT NOT NULL,
  -- what is posted: the result's ABI encoding, as the call needs it
  call TEXT NOT NULL,
  signed TEXT NOT NULL,
  UNIQUE (agent, run_id, iteration, history_hash)
) STRICT;

CREATE TABLE tool_metadata (
  agent TEXT NOT NULL,
  tool TEXT NOT NULL,
  metadata TEXT NOT NULL,
  PRIMARY KEY (agent, tool)
) STRICT;
