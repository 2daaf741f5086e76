-- What was put at risk: the limit is an amount, not a number of tickets.
ALTER TABLE filed_tickets ADD COLUMN wei TEXT NOT NULL DEFAULT '0';
