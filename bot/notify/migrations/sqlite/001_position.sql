-- Up to where each endpoint was told of events, and when its newest digest was due.

CREATE TABLE notify_position (
    endpoint TEXT PRIMARY KEY CHECK (endpoint <> ''),
    event    INTEGER NOT NULL, -- id of the last event that was looked at
    digest   INTEGER NOT NULL  -- ms
) STRICT, WITHOUT ROWID;

-- What endpoints were told, or rejected: neither is sent again by a process that takes over the job.
CREATE TABLE notify_told (
    endpoint TEXT NOT NULL,
    message  TEXT NOT NULL,    -- its id
    at       INTEGER NOT NULL, -- ms
    PRIMARY KEY (endpoint, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_told_at ON notify_told (at);
