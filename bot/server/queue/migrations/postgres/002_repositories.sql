-- What the App knows of the repositories it works in.

CREATE TABLE repository (
    id           bigint PRIMARY KEY,                        -- GitHub's: it stays when the name changes
    installation bigint NOT NULL,
    name         text NOT NULL CHECK (name <> ''),          -- owner/name now
    ledger       text NOT NULL UNIQUE CHECK (ledger <> ''), -- owner/name under which its streams are kept
    imported_at  bigint,                                   -- when the ledger's branch was taken over
    gone_at      bigint                                    -- when it was deleted, or taken from the App
);

-- The subject of a delivery; deliveries with the same key are processed one at a time.
ALTER TABLE delivery ADD COLUMN serialization_key text NOT NULL DEFAULT '';

CREATE INDEX delivery_key ON delivery (serialization_key, event, received_at) WHERE state IN ('received', 'later', 'failed');
