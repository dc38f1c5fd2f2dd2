-- What was sent to GitHub, and which process may send.

CREATE TABLE rate_limit (
    name  TEXT PRIMARY KEY CHECK (name <> ''), -- e.g. an installation
    state TEXT NOT NULL                        -- JSON of ratelimit.State
) STRICT;
