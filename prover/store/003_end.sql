-- Overdue claims of others that block a request: a new kind of job. What is wanted is found again at the next block, so
-- nothing is copied.
DROP TABLE jobs;
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('commitTrace', 'reveal', 'claim', 'settle', 'end', 'finalize', 'deliver')),
  -- id of the claim; of the request for a claim and a delivery
  subject TEXT NOT NULL,
  -- encoded position of a reveal
  position TEXT,
  -- 0: a bond is lost without it; 1: the rest
  urgency INTEGER NOT NULL,
  -- seconds since 1970
  due INTEGER NOT NULL,
  run_at_ms INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  locked_by TEXT
) STRICT;

CREATE INDEX jobs_by_urgency ON jobs (urgency, due, id) WHERE locked_by IS NULL;
