-- Up to when the search for missed events is complete.

CREATE TABLE recovery_mark (
    name  text PRIMARY KEY CHECK (name <> ''),   -- the search
    value text NOT NULL                          -- a time by GitHub's clock
);
