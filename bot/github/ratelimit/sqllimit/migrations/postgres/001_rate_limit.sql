-- What was sent to GitHub, and which process may send.

CREATE TABLE rate_limit (
    name  text PRIMARY KEY CHECK (name <> ''), -- e.g. an installation
    state text NOT NULL                        -- JSON of ratelimit.State
);
