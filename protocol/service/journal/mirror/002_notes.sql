CREATE TRIGGER notes_unshared AFTER UPDATE ON notes
WHEN NEW.revision IS NOT NULL AND NEW.revision IS OLD.revision BEGIN
  UPDATE notes SET revision = NULL WHERE key = NEW.key;
END;
