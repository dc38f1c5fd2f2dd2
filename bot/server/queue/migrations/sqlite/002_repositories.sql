-- What the App knows of the repositories it works in.

CREATE TABLE repository (
    id           INTEGER PRIMARY KEY,                       -- GitHub's: it stays when the name changes
    installation INTEGER NOT NULL,
    name         TEXT NOT NULL CHECK (name <> ''),          -- owner/name now
    ledger       TEXT NOT NULL UNIQUE CHECK (ledger <> ''), -- owner/name under which its streams are kept
    imported_at  INTEGER,                                   -- when the ledger's branch was taken over
    gone_at      INTEGER                                    -- when it was deleted, or taken from the App
) STRICT;

-- What deliveries have in common that are about the same subject.
ALTER TABLE delivery ADD COLUMN lane TEXT NOT NULL DEFAULT '';

CREATE INDEX delivery_lane ON delivery (lane, event, received_at) WHERE state IN ('received', 'later', 'failed');
