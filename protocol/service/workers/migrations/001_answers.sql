-- Logins are the server's word: a worker that may not write this column cannot take the name of another machine.
CREATE TABLE workers (
  login TEXT NOT NULL DEFAULT session_user,
  name TEXT NOT NULL CHECK (length(name) <= 200),
  seen TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (login, name)
);
CREATE TABLE answers (
  job TEXT NOT NULL CHECK (length(job) <= 200),
  login TEXT NOT NULL DEFAULT session_user,
  worker TEXT NOT NULL CHECK (length(worker) <= 200),
  digest TEXT NOT NULL CHECK (length(digest) <= 200),
  outcome TEXT NOT NULL CHECK (outcome IN ('made', 'failed')),
  content BYTEA NOT NULL CHECK (octet_length(content) <= 1048576),
  made TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job, login, worker)
);
CREATE INDEX answers_made ON answers (made);
