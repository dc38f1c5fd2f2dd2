-- The repositories in which the App works.

CREATE TABLE repository (
    id           INTEGER PRIMARY KEY,                       -- GitHub's id, which stays when the name changes
    installation INTEGER NOT NULL,
    name         TEXT NOT NULL CHECK (name <> ''),          -- owner/name now
    ledger       TEXT NOT NULL UNIQUE CHECK (ledger <> ''), -- owner/name of its streams
    imported_at  INTEGER,                                   -- when the ledger branch was imported
    gone_at      INTEGER                                    -- when it was deleted, or removed from the App
) STRICT;

-- The subject of a delivery; deliveries with the same key are processed one at a time.
ALTER TABLE delivery ADD COLUMN serialization_key TEXT NOT NULL DEFAULT '';

CREATE INDEX delivery_key ON delivery (serialization_key, event, received_at) WHERE state IN ('received', 'later', 'failed');
