-- Times are ms since 1970. Prices are integers in the operator's unit of account.
CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  server TEXT NOT NULL,
  available_tools TEXT NOT NULL,
  grounding TEXT NOT NULL CHECK (grounding IN ('words', 'citations')),
  budget INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

-- A message with its reply and the metrics of its turn; reply and what follows are absent while it runs.
CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  caller TEXT NOT NULL,
  message TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  reply TEXT,
  outcome TEXT,
  rounds INTEGER,
  calls INTEGER,
  denied INTEGER,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  price INTEGER,
  ended_at INTEGER
) STRICT;
CREATE INDEX turns_of_conversation ON turns (conversation_id, started_at);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  turn_id TEXT,
  agent_id TEXT,
  caller TEXT,
  tool TEXT,
  outcome TEXT,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_agent ON audit (agent_id, id);
-- What was written stays: whoever prunes it does so manually, on a copy.
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'audit rows are not changed');
END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN
  SELECT RAISE(ABORT, 'audit rows are not deleted');
END;

-- One row a call that ran. `started` holds its price until the call ends, so that calls at the same time cannot pass
-- a budget together; a process that dies leaves it charged.
CREATE TABLE metering (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  turn_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  caller TEXT NOT NULL,
  tool TEXT NOT NULL,
  units INTEGER NOT NULL,
  price INTEGER NOT NULL,
  fee_wei TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('started', 'succeeded', 'failed', 'pending'))
) STRICT;
CREATE INDEX metering_of_agent ON metering (agent_id);
CREATE INDEX metering_of_caller ON metering (caller, at);
CREATE INDEX metering_of_turn ON metering (turn_id);
