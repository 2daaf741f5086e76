-- What was found right on the word of workers stays until nobody can open it any more: a worker that is found lying has it
-- compared again, by the canonical executor of this machine.
ALTER TABLE unchecked_batches ADD COLUMN is_checked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE unchecked_batches ADD COLUMN must_run_here INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queued_to_check ADD COLUMN is_checked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queued_to_check ADD COLUMN must_run_here INTEGER NOT NULL DEFAULT 0;
CREATE TABLE words (
  -- id of a batch, or digest of a signed claim
  key TEXT NOT NULL,
  worker TEXT NOT NULL,
  PRIMARY KEY (key, worker)
) STRICT;
CREATE TRIGGER words_of_batches AFTER DELETE ON unchecked_batches BEGIN
  DELETE FROM words WHERE key = OLD.batch_id;
END;
CREATE TRIGGER words_of_queued AFTER DELETE ON queued_to_check BEGIN
  DELETE FROM words WHERE key = OLD.digest;
END;
