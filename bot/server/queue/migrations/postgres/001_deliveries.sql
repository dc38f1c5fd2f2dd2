-- Webhook deliveries, each once. Times are Unix milliseconds.

CREATE TABLE delivery (
    id           text COLLATE "C" PRIMARY KEY, -- X-GitHub-Delivery
    hook         bigint NOT NULL,
    installation bigint NOT NULL,
    event        text NOT NULL,
    action       text NOT NULL,
    received_at  bigint NOT NULL,
    payload      bytea,                        -- null after it was pruned
    encoding     text NOT NULL CHECK (encoding IN ('', 'gzip')),
    state        text NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'working', 'later', 'failed', 'done', 'gone', 'dead_letter')),
    attempts     integer NOT NULL DEFAULT 0,
    error        text NOT NULL DEFAULT '',     -- of the last attempt
    next_at      bigint,                       -- of later and failed: not before
    changed_at   bigint NOT NULL
);

ALTER TABLE delivery ALTER COLUMN payload SET STORAGE EXTERNAL; -- large payloads are compressed already
CREATE INDEX delivery_state ON delivery (state, changed_at);
CREATE INDEX delivery_kept ON delivery (changed_at) WHERE state IN ('done', 'gone') AND payload IS NOT NULL; -- to be pruned
