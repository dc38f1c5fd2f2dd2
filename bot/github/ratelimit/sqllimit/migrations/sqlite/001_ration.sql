-- What was sent to GitHub, and who may send.

CREATE TABLE ration (
    name  TEXT PRIMARY KEY CHECK (name <> ''), -- e.g. an installation
    state TEXT NOT NULL                        -- JSON of ration.State
) STRICT;
