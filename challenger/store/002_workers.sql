-- On whose word alone a claim was found right; null where this machine computed its output.
ALTER TABLE verdicts ADD COLUMN first_worker TEXT;
ALTER TABLE verdicts ADD COLUMN second_worker TEXT;
