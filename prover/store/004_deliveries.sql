-- Why a job was not done at its last try: who reads the log is told when that changes, not at each try.
ALTER TABLE jobs ADD COLUMN reason TEXT;

-- Deliveries whose callback failed. What is given up is tried again when the callback's code is another, or when
-- somebody says so.
CREATE TABLE failed_deliveries (
  request_id TEXT PRIMARY KEY,
  callback TEXT NOT NULL,
  failures INTEGER NOT NULL,
  -- of them, those that were mined and paid for
  mined INTEGER NOT NULL,
  -- of the callback's code at the last one
  code_hash TEXT NOT NULL,
  given_up INTEGER NOT NULL
) STRICT;
