-- Who signs with this schema's key. `fence` counts how often that changed, `revision` the changes of the journal;
-- `identity` is the signer's time, which begins when it takes over; `beat` is when the signer was last heard of, by the clock of the database. `successor` asks for its place: it journalled
-- answers in its folder while the database was gone, and only a signer writes here.
CREATE TABLE signer (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  identity TEXT NOT NULL,
  fence INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  host TEXT NOT NULL,
  beat TIMESTAMPTZ NOT NULL,
  successor TEXT
);
INSERT INTO signer VALUES (1, gen_random_uuid(), 0, 0, '', '-infinity');

-- After which change each signer took over: what a copy has beyond it from before, a server lost that is older than it was.
CREATE TABLE signers (
  identity TEXT PRIMARY KEY,
  fence INTEGER NOT NULL,
  revision INTEGER NOT NULL
);
INSERT INTO signers SELECT identity, fence, revision FROM signer;

-- Whoever lost the right to sign writes nothing more, whatever it believes.
CREATE FUNCTION require_fence() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM signer WHERE signer.fence = NEW.fence) THEN
    RAISE EXCEPTION 'fence % is not that of the signer', NEW.fence USING ERRCODE = 'AS001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER actions_fence BEFORE INSERT OR UPDATE ON actions FOR EACH ROW EXECUTE FUNCTION require_fence();
CREATE TRIGGER transactions_fence BEFORE INSERT OR UPDATE ON transactions FOR EACH ROW EXECUTE FUNCTION require_fence();
