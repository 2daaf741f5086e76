-- Of a journal that several machines share: in which change of it a row was written there, NULL for one that was not yet;
-- and how often the right to sign with the key had changed hands by then.
ALTER TABLE actions ADD COLUMN revision INTEGER;
ALTER TABLE actions ADD COLUMN fence INTEGER;
ALTER TABLE transactions ADD COLUMN revision INTEGER;
ALTER TABLE transactions ADD COLUMN fence INTEGER;
CREATE INDEX actions_by_revision ON actions (revision);
CREATE INDEX transactions_by_revision ON transactions (revision);
