-- Projections of the ledger. No decision depends on them.

CREATE TABLE projection_pending (   -- streams of this database's ledger that may have events that are not projected
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- one for each append: who takes in what it sees, takes away no other's
    stream bigint NOT NULL
);
INSERT INTO projection_pending (stream) SELECT id FROM ledger_stream;
CREATE FUNCTION projection_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO projection_pending (stream) SELECT DISTINCT stream FROM added;
    NOTIFY switchback_ledger;
    RETURN NULL;
END $$;
CREATE TRIGGER projection_notifies AFTER INSERT ON ledger_event REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION projection_notify();

CREATE TABLE projection_stream (
    key   text COLLATE "C" PRIMARY KEY,
    seen  bigint NOT NULL,              -- its events that are projected
    head  text COLLATE "C" NOT NULL,    -- hash of its first event, which identifies the stream
    state text COLLATE "C" NOT NULL     -- of a stream of a ledger outside this database
);

CREATE TABLE projection_event (   -- in the order of publication
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      bigint NOT NULL,            -- ms
    repo    text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    port    text COLLATE "C" NOT NULL,
    type    text COLLATE "C" NOT NULL,
    stream  text COLLATE "C" NOT NULL,
    data    text COLLATE "C" NOT NULL                -- JSON
);
CREATE INDEX projection_event_stream ON projection_event (stream, id);
CREATE INDEX projection_event_at ON projection_event (at);

CREATE TABLE projection_case (
    key         text COLLATE "C" PRIMARY KEY,
    repo        text COLLATE "C" NOT NULL,
    subject     text COLLATE "C" NOT NULL,           -- #12, @main
    state       text COLLATE "C" NOT NULL,           -- pending, in_progress, escalated, paused, completed
    since       bigint NOT NULL,        -- ms; in this state
    opened      bigint NOT NULL,
    updated     bigint NOT NULL,
    checkpoint  text COLLATE "C" NOT NULL,           -- that determines state
    decision    text COLLATE "C" NOT NULL,           -- its newest
    rule        text COLLATE "C" NOT NULL,
    class       text COLLATE "C" NOT NULL,
    reason      text COLLATE "C" NOT NULL,
    iterations  bigint NOT NULL,        -- of that checkpoint
    most        bigint NOT NULL,
    checkpoints text COLLATE "C" NOT NULL            -- JSON: name → state
);
CREATE INDEX projection_case_state ON projection_case (repo, state, updated DESC, key);
CREATE INDEX projection_case_all ON projection_case (state, updated DESC, key);
CREATE INDEX projection_case_since ON projection_case (state, since, key);
CREATE INDEX projection_case_waits ON projection_case (repo, state, since, key);
CREATE INDEX projection_case_updated ON projection_case (updated DESC, key);
CREATE INDEX projection_case_repo ON projection_case (repo, updated DESC, key);

CREATE TABLE projection_state (   -- how many cases are in each state
    repo  text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    n     bigint NOT NULL,
    PRIMARY KEY (repo, state)
);

CREATE TABLE projection_count (   -- decisions
    repo     text COLLATE "C" NOT NULL,
    day      bigint NOT NULL,           -- since 1970, UTC
    decision text COLLATE "C" NOT NULL,
    rule     text COLLATE "C" NOT NULL,
    class    text COLLATE "C" NOT NULL,
    n        bigint NOT NULL,
    wrong    bigint NOT NULL,           -- of which a maintainer corrected the class
    PRIMARY KEY (repo, day, decision, rule, class)
);

CREATE TABLE projection_green (   -- checkpoints that failed and then passed
    repo  text COLLATE "C" NOT NULL,
    day   bigint NOT NULL,              -- on which they passed
    iterations bigint NOT NULL,          -- until then
    human bigint NOT NULL,              -- 1 if there was an escalation or an action of a person
    took  bigint NOT NULL,              -- since the first failure: 8·log2(1 + minutes)
    n     bigint NOT NULL,
    PRIMARY KEY (repo, day, iterations, human, took)
);

CREATE TABLE projection_failure (
    fingerprint text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,           -- of the case
    checkpoint  text COLLATE "C" NOT NULL,
    repo        text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    suite       text COLLATE "C" NOT NULL,
    file        text COLLATE "C" NOT NULL,
    class       text COLLATE "C" NOT NULL,
    first       bigint NOT NULL,
    last        bigint NOT NULL,
    runs        bigint NOT NULL,        -- in which it occurred
    flaky       bigint NOT NULL,        -- in which it was flaky
    fixed      bigint NOT NULL,        -- ms; 0: it still fails
    iterations  bigint NOT NULL,        -- of the streak when it was fixed
    PRIMARY KEY (fingerprint, key, checkpoint)
);
CREATE INDEX projection_failure_key ON projection_failure (key, checkpoint, fixed);
CREATE INDEX projection_failure_last ON projection_failure (fingerprint, last DESC, key, checkpoint);

CREATE TABLE projection_cluster (   -- failures with one fingerprint in one repository
    fingerprint text COLLATE "C" NOT NULL,
    repo        text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    suite       text COLLATE "C" NOT NULL,
    file        text COLLATE "C" NOT NULL,
    class       text COLLATE "C" NOT NULL,
    first       bigint NOT NULL,
    last        bigint NOT NULL,
    cases       bigint NOT NULL,
    runs        bigint NOT NULL,
    flaky       bigint NOT NULL,
    open        bigint NOT NULL,        -- cases in which it still fails
    sought      text COLLATE "C" GENERATED ALWAYS AS (lower(name || ' ' || suite || ' ' || file)) STORED,
    PRIMARY KEY (fingerprint, repo)
);
CREATE INDEX projection_cluster_last ON projection_cluster (repo, last DESC, fingerprint);
CREATE INDEX projection_cluster_all ON projection_cluster (last DESC, fingerprint);

CREATE TABLE projection_plan (
    key     text COLLATE "C" PRIMARY KEY,
    repo    text COLLATE "C" NOT NULL,
    plan    text COLLATE "C" NOT NULL,
    build   text COLLATE "C" NOT NULL,
    updated bigint NOT NULL,
    data    text COLLATE "C" NOT NULL                -- JSON: PlanState
);
CREATE INDEX projection_plan_updated ON projection_plan (repo, updated DESC);

CREATE TABLE projection_port (
    key     text COLLATE "C" PRIMARY KEY,
    repo    text COLLATE "C" NOT NULL,
    plan    text COLLATE "C" NOT NULL,
    port    text COLLATE "C" NOT NULL,
    updated bigint NOT NULL,
    waits   bigint NOT NULL,            -- ms since the escalation was opened, 0 if none is open
    data    text COLLATE "C" NOT NULL                -- JSON: PortState
);
CREATE INDEX projection_port_plan ON projection_port (repo, plan);

CREATE TABLE projection_feedback_request (   -- requests between ports
    repo     text COLLATE "C" NOT NULL,
    type     text COLLATE "C" NOT NULL,
    open     bigint NOT NULL,
    resolved bigint NOT NULL,
    failed   bigint NOT NULL,
    rejected bigint NOT NULL,
    rounds   bigint NOT NULL,           -- of the resolved ones, in total
    PRIMARY KEY (repo, type)
);

CREATE TABLE projection_incident (
    key      text COLLATE "C" PRIMARY KEY,       -- of the stream, / and id
    repo     text COLLATE "C" NOT NULL,
    id       text COLLATE "C" NOT NULL,
    kind     text COLLATE "C" NOT NULL,          -- environment, base
    cause    text COLLATE "C" NOT NULL,
    standing text COLLATE "C" NOT NULL,          -- open, testing, resuming, over, dismissed
    live     bigint NOT NULL,       -- 1 while it takes members
    opened   bigint NOT NULL,       -- ms
    ended    bigint NOT NULL,       -- ms; 0: it is live
    members  bigint NOT NULL,
    on_hold  bigint NOT NULL,       -- of the members
    reopened bigint NOT NULL,       -- how often
    number   bigint NOT NULL,       -- of the issue, 0 if it has none
    url      text COLLATE "C" NOT NULL
);
CREATE INDEX projection_incident_list ON projection_incident (live DESC, opened DESC, key);
CREATE INDEX projection_incident_repo ON projection_incident (repo, live DESC, opened DESC, key);
