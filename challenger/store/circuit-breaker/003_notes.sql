-- What the circuit breaker remembers are notes of the journal: whoever signs next must know it.
INSERT INTO notes (key, at_ms, body) SELECT 'ticket:' || claim_id, at_ms, wei FROM filed_tickets;
INSERT INTO notes (key, at_ms) SELECT 'lost:' || claim_id, 0 FROM lost_tickets;
INSERT INTO notes (key, at_ms, body) SELECT 'tripped', at_ms, reason FROM circuit_breaker;
DROP TABLE filed_tickets;
DROP TABLE lost_tickets;
DROP TABLE circuit_breaker;
