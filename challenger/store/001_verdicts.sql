-- What re-execution said of a claim. A claim's id commits to input and output, so a verdict never changes.
CREATE TABLE verdicts (
  claim_id TEXT PRIMARY KEY,
  is_right INTEGER NOT NULL CHECK (is_right IN (0, 1)),
  honest TEXT
) STRICT;
