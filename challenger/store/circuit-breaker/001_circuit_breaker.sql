-- Claims on which a ticket was filed within the last hour.
CREATE TABLE filed_tickets (
  claim_id TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL
) STRICT;

-- Claims that became final in spite of a ticket: each stops the challenger once, also after a restart or a re-org.
CREATE TABLE lost_tickets (
  claim_id TEXT PRIMARY KEY
) STRICT;

-- One row while no tickets may be filed.
CREATE TABLE circuit_breaker (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  reason TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
