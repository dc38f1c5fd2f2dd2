-- What was sent to GitHub, and who may send.

CREATE TABLE ration (
    name  text PRIMARY KEY CHECK (name <> ''), -- e.g. an installation
    state text NOT NULL                        -- JSON of ration.State
);
