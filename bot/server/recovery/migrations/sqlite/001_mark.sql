-- Up to when the search for missed events is complete.

CREATE TABLE recovery_mark (
    name  TEXT PRIMARY KEY CHECK (name <> ''),   -- the search
    value TEXT NOT NULL                          -- a time by GitHub's clock
) STRICT;
