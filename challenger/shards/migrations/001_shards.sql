-- Challengers of this deployment that divide the checks between them, by their keys, and when each was last heard of, by the
-- clock of the database.
CREATE TABLE challengers (
  account TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  beat TIMESTAMPTZ NOT NULL
);

-- Claims that were found right, by whom; kept until their window is over for a day.
CREATE TABLE right_claims (
  claim_id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  window_end BIGINT NOT NULL
);
