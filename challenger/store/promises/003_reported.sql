-- 1: somebody handed it over, and the chain has nothing of it yet. Such ones have a limit, and the weakest make room.
ALTER TABLE wrong_promises ADD COLUMN reported INTEGER NOT NULL DEFAULT 0;
-- what could be taken by it when it came, wei as 32 hexadecimal digits, so that it sorts
ALTER TABLE wrong_promises ADD COLUMN strength TEXT NOT NULL DEFAULT '';
-- last second in which it can be opened; NULL: it came before that was kept
ALTER TABLE wrong_promises ADD COLUMN ends_at INTEGER;
CREATE INDEX wrong_promises_reported ON wrong_promises (strength) WHERE reported = 1 AND over_block IS NULL;
-- Signed claims that somebody opened and that wait in a queue, until they are compared.
CREATE TABLE queued_to_check (
  digest TEXT PRIMARY KEY,
  block INTEGER NOT NULL,
  body TEXT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  -- block from which on it is tried again
  next_block INTEGER NOT NULL DEFAULT 0
) STRICT;
