-- Rounds that were asked for and are not over yet.
CREATE TABLE rounds (
  round_id TEXT PRIMARY KEY,
  data TEXT NOT NULL,
  block_number INTEGER NOT NULL
) STRICT;

-- What this executor answers, before it commits: the salt must outlive the process, and no round gets two answers.
CREATE TABLE round_answers (
  round_id TEXT PRIMARY KEY,
  output TEXT NOT NULL,
  salt TEXT NOT NULL
) STRICT;

CREATE TABLE round_cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  results TEXT NOT NULL,
  cursor TEXT NOT NULL
) STRICT;
