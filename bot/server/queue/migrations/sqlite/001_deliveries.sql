-- Webhook deliveries, each once. Times are Unix milliseconds.

CREATE TABLE delivery (
    id           TEXT PRIMARY KEY,             -- X-GitHub-Delivery
    hook         INTEGER NOT NULL,
    installation INTEGER NOT NULL,
    event        TEXT NOT NULL,
    action       TEXT NOT NULL,
    received_at  INTEGER NOT NULL,
    payload      BLOB,                         -- null after it was pruned
    encoding     TEXT NOT NULL CHECK (encoding IN ('', 'gzip')),
    state        TEXT NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'working', 'later', 'failed', 'done', 'gone', 'dead_letter')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    error        TEXT NOT NULL DEFAULT '',     -- of the last attempt
    next_at      INTEGER,                      -- of later and failed: not before
    changed_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX delivery_state ON delivery (state, changed_at);
CREATE INDEX delivery_kept ON delivery (changed_at) WHERE state IN ('done', 'gone') AND payload IS NOT NULL; -- to be pruned
