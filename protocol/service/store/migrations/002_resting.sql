-- Requests that memory does not hold until something happens to them; and which request a claim is of.
CREATE TABLE resting (
  request_id TEXT PRIMARY KEY
) STRICT;
ALTER TABLE events ADD COLUMN claim_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.args.claimId')) VIRTUAL;
CREATE INDEX events_of_claim ON events (claim_id);
