-- How far was looked for what the App was not told.

CREATE TABLE recovery_mark (
    name  text PRIMARY KEY CHECK (name <> ''),   -- what was looked at
    value text NOT NULL                          -- up to when, as GitHub tells the time
);
