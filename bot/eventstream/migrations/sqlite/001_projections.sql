-- Projections of the ledger. No decision depends on them.

CREATE TABLE projection_pending (   -- streams of this database's ledger that may have events that are not projected
    stream INTEGER PRIMARY KEY
) STRICT;
INSERT INTO projection_pending (stream) SELECT id FROM ledger_stream;
CREATE TRIGGER projection_notifies AFTER INSERT ON ledger_event
BEGIN INSERT INTO projection_pending (stream) VALUES (NEW.stream) ON CONFLICT (stream) DO NOTHING; END;

CREATE TABLE projection_stream (
    key   TEXT PRIMARY KEY,
    seen  INTEGER NOT NULL,              -- its events that are projected
    head  TEXT NOT NULL,                 -- hash of its first event, which identifies the stream
    state TEXT NOT NULL                  -- of a stream of a ledger outside this database
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_event (   -- in the order of publication
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,            -- ms
    repo    TEXT NOT NULL,
    session TEXT NOT NULL,
    port    TEXT NOT NULL,
    type    TEXT NOT NULL,
    stream  TEXT NOT NULL,
    data    TEXT NOT NULL                -- JSON
) STRICT;
CREATE INDEX projection_event_stream ON projection_event (stream, id);
CREATE INDEX projection_event_at ON projection_event (at);

CREATE TABLE projection_case (
    key         TEXT PRIMARY KEY,
    repo        TEXT NOT NULL,
    subject     TEXT NOT NULL,           -- #12, @main
    state       TEXT NOT NULL,           -- pending, in_progress, escalated, paused, completed
    since       INTEGER NOT NULL,        -- ms; in this state
    opened      INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    checkpoint  TEXT NOT NULL,           -- that determines state
    decision    TEXT NOT NULL,           -- its newest
    rule        TEXT NOT NULL,
    class       TEXT NOT NULL,
    reason      TEXT NOT NULL,
    iterations  INTEGER NOT NULL,        -- of that checkpoint
    most        INTEGER NOT NULL,
    checkpoints TEXT NOT NULL            -- JSON: name → state
) STRICT, WITHOUT ROWID;
CREATE INDEX projection_case_state ON projection_case (repo, state, updated DESC, key);
CREATE INDEX projection_case_all ON projection_case (state, updated DESC, key);
CREATE INDEX projection_case_since ON projection_case (state, since, key);
CREATE INDEX projection_case_waits ON projection_case (repo, state, since, key);
CREATE INDEX projection_case_updated ON projection_case (updated DESC, key);
CREATE INDEX projection_case_repo ON projection_case (repo, updated DESC, key);

CREATE TABLE projection_state (   -- how many cases are in each state
    repo  TEXT NOT NULL,
    state TEXT NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (repo, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_count (   -- decisions
    repo     TEXT NOT NULL,
    day      INTEGER NOT NULL,           -- since 1970, UTC
    decision TEXT NOT NULL,
    rule     TEXT NOT NULL,
    class    TEXT NOT NULL,
    n        INTEGER NOT NULL,
    wrong    INTEGER NOT NULL,           -- of which a maintainer corrected the class
    PRIMARY KEY (repo, day, decision, rule, class)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_green (   -- checkpoints that failed and then passed
    repo  TEXT NOT NULL,
    day   INTEGER NOT NULL,              -- on which they passed
    iterations INTEGER NOT NULL,         -- until then
    human INTEGER NOT NULL,              -- 1 if there was an escalation or an action of a person
    took  INTEGER NOT NULL,              -- since the first failure: 8·log2(1 + minutes)
    n     INTEGER NOT NULL,
    PRIMARY KEY (repo, day, iterations, human, took)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_failure (
    fingerprint TEXT NOT NULL,
    key         TEXT NOT NULL,           -- of the case
    checkpoint  TEXT NOT NULL,
    repo        TEXT NOT NULL,
    name        TEXT NOT NULL,
    suite       TEXT NOT NULL,
    file        TEXT NOT NULL,
    class       TEXT NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    runs        INTEGER NOT NULL,        -- in which it occurred
    flaky       INTEGER NOT NULL,        -- in which it was flaky
    fixed      INTEGER NOT NULL,        -- ms; 0: it still fails
    iterations  INTEGER NOT NULL,        -- of the streak when it was fixed
    PRIMARY KEY (fingerprint, key, checkpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX projection_failure_key ON projection_failure (key, checkpoint, fixed);
CREATE INDEX projection_failure_last ON projection_failure (fingerprint, last DESC, key, checkpoint);

CREATE TABLE projection_cluster (   -- failures with one fingerprint in one repository
    fingerprint TEXT NOT NULL,
    repo        TEXT NOT NULL,
    name        TEXT NOT NULL,
    suite       TEXT NOT NULL,
    file        TEXT NOT NULL,
    class       TEXT NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    cases       INTEGER NOT NULL,
    runs        INTEGER NOT NULL,
    flaky       INTEGER NOT NULL,
    open        INTEGER NOT NULL,        -- cases in which it still fails
    PRIMARY KEY (fingerprint, repo)
) STRICT, WITHOUT ROWID;
CREATE INDEX projection_cluster_last ON projection_cluster (repo, last DESC, fingerprint);
CREATE INDEX projection_cluster_all ON projection_cluster (last DESC, fingerprint, repo, class, name, suite, file); -- covers searches

CREATE TABLE projection_plan (
    key     TEXT PRIMARY KEY,
    repo    TEXT NOT NULL,
    plan    TEXT NOT NULL,
    build   TEXT NOT NULL,
    updated INTEGER NOT NULL,
    data    TEXT NOT NULL                -- JSON: PlanState
) STRICT, WITHOUT ROWID;
CREATE INDEX projection_plan_updated ON projection_plan (repo, updated DESC);

CREATE TABLE projection_port (
    key     TEXT PRIMARY KEY,
    repo    TEXT NOT NULL,
    plan    TEXT NOT NULL,
    port    TEXT NOT NULL,
    updated INTEGER NOT NULL,
    waits   INTEGER NOT NULL,            -- ms since the escalation was opened, 0 if none is open
    data    TEXT NOT NULL                -- JSON: PortState
) STRICT, WITHOUT ROWID;
CREATE INDEX projection_port_plan ON projection_port (repo, plan);

CREATE TABLE projection_feedback_request (   -- requests between ports
    repo     TEXT NOT NULL,
    type     TEXT NOT NULL,
    open     INTEGER NOT NULL,
    resolved INTEGER NOT NULL,
    failed   INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    rounds   INTEGER NOT NULL,           -- of the resolved ones, in total
    PRIMARY KEY (repo, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_incident (
    key      TEXT PRIMARY KEY,       -- of the stream, / and id
    repo     TEXT NOT NULL,
    id       TEXT NOT NULL,
    kind     TEXT NOT NULL,          -- environment, base
    cause    TEXT NOT NULL,
    standing TEXT NOT NULL,          -- open, testing, resuming, over, dismissed
    live     INTEGER NOT NULL,       -- 1 while it takes members
    opened   INTEGER NOT NULL,       -- ms
    ended    INTEGER NOT NULL,       -- ms; 0: it is live
    members  INTEGER NOT NULL,
    on_hold  INTEGER NOT NULL,       -- of the members
    reopened INTEGER NOT NULL,       -- how often
    number   INTEGER NOT NULL,       -- of the issue, 0 if it has none
    url      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projection_incident_list ON projection_incident (live DESC, opened DESC, key);
CREATE INDEX projection_incident_repo ON projection_incident (repo, live DESC, opened DESC, key);
