-- Claims on which a ticket was filed within the last hour.
CREATE TABLE filed_tickets (
  claim_id TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL
) STRICT;

-- One row while no tickets may be filed.
CREATE TABLE circuit_breaker (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  reason TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
