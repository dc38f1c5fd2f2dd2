-- Up to where each endpoint was told of events, and when its newest digest was due.

CREATE TABLE notify_position (
    endpoint text PRIMARY KEY CHECK (endpoint <> ''),
    event    bigint NOT NULL, -- id of the last event that was looked at
    digest   bigint NOT NULL  -- ms
);

-- What endpoints were told, or rejected: neither is sent again by a process that takes over the job.
CREATE TABLE notify_told (
    endpoint text NOT NULL,
    message  text NOT NULL,    -- its id
    at       bigint NOT NULL, -- ms
    PRIMARY KEY (endpoint, message)
);
CREATE INDEX notify_told_at ON notify_told (at);
