-- The repositories in which the App works.

CREATE TABLE repository (
    id           bigint PRIMARY KEY,                        -- GitHub's id, which stays when the name changes
    installation bigint NOT NULL,
    name         text NOT NULL CHECK (name <> ''),          -- owner/name now
    ledger       text NOT NULL UNIQUE CHECK (ledger <> ''), -- owner/name of its streams
    imported_at  bigint,                                   -- when the ledger branch was imported
    gone_at      bigint                                    -- when it was deleted, or removed from the App
);

-- The subject of a delivery; deliveries with the same key are processed one at a time.
ALTER TABLE delivery ADD COLUMN serialization_key text NOT NULL DEFAULT '';

CREATE INDEX delivery_key ON delivery (serialization_key, event, received_at) WHERE state IN ('received', 'later', 'failed');
