-- Which shared journal this file is a copy of, by the signer whose change it has last, and up to which of its changes.
CREATE TABLE mirror (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  identity TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;

-- Whoever changes a row need not know that there is a shared journal: it is written there again.
CREATE TRIGGER actions_unshared AFTER UPDATE ON actions
WHEN NEW.revision IS NOT NULL AND NEW.revision IS OLD.revision BEGIN
  UPDATE actions SET revision = NULL WHERE key = NEW.key;
END;
CREATE TRIGGER transactions_unshared AFTER UPDATE ON transactions
WHEN NEW.revision IS NOT NULL AND NEW.revision IS OLD.revision BEGIN
  UPDATE transactions SET revision = NULL WHERE hash = NEW.hash;
END;
