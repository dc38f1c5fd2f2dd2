-- The ledger as tables, for questions in SQL. Times are RFC 3339 in UTC; what
-- is JSON is checked to be. A row's id is made of what it records, so that
-- writing the same ledger again writes the same rows.

CREATE TABLE IF NOT EXISTS audit_logs (
    id                  TEXT PRIMARY KEY CHECK (id GLOB 'TASK-[0-9][0-9][0-9][0-9]*' AND substr(id, 6) NOT GLOB '*[^0-9]*'),
    date                TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND julianday(date) IS NOT NULL),
    task_name           TEXT NOT NULL CHECK (trim(task_name) <> ''),
    mode                TEXT NOT NULL CHECK (trim(mode) <> ''),
    action              TEXT NOT NULL CHECK (trim(action) <> ''),
    input_path          TEXT,
    output_path         TEXT,
    script_path         TEXT,
    status              TEXT NOT NULL CHECK (status IN ('success', 'fail', 'in_progress')),
    notes               TEXT,
    context_for_next    TEXT,
    continuation_hint   TEXT,
    transition_repeated INTEGER NOT NULL CHECK (transition_repeated IN (0, 1)),
    transition_reuse    INTEGER NOT NULL CHECK (transition_reuse IN (0, 1)),
    transition_decision INTEGER NOT NULL CHECK (transition_decision IN (0, 1))
) STRICT;

CREATE TABLE IF NOT EXISTS user_feedback (
    id               TEXT PRIMARY KEY CHECK (id GLOB 'FB-[0-9][0-9][0-9][0-9]*' AND substr(id, 4) NOT GLOB '*[^0-9]*'),
    date             TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND julianday(date) IS NOT NULL),
    user_id          TEXT,                       -- who answered; null: unknown
    feedback_text    TEXT NOT NULL CHECK (json_valid(feedback_text)
        AND json_extract(feedback_text, '$.feedback_type') IN ('level_adjustment', 'suggestion_acceptance', 'free_text')
        AND json_extract(feedback_text, '$.level_before') IN (10, 20, 30)
        AND json_extract(feedback_text, '$.level_after') IN (10, 20, 30)),
    source_ref_path  TEXT NOT NULL,              -- the report that people were asked about
    impact_domain    TEXT NOT NULL CHECK (impact_domain = 'workflow_optimization'),
    impact_summary   TEXT NOT NULL,
    reversibility    TEXT NOT NULL CHECK (reversibility IN ('High', 'Medium', 'Low')),
    related_audit_id TEXT NOT NULL REFERENCES audit_logs (id)
) STRICT;

CREATE TABLE IF NOT EXISTS escalations (
    id                TEXT PRIMARY KEY,
    session_id        TEXT NOT NULL,             -- the case that opened it
    port_id           TEXT,
    type              TEXT NOT NULL CHECK (type IN ('general', 'blocked', 'decision', 'test_failure', 'token_exhausted',
                                                    'timeout', 'conflict', 'dependency', 'quality', 'build_failure')),
    severity          TEXT NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    title             TEXT NOT NULL,
    description       TEXT NOT NULL,
    context           TEXT NOT NULL CHECK (json_valid(context)),
    suggested_actions TEXT NOT NULL CHECK (json_valid(suggested_actions) AND json_type(suggested_actions) = 'array'),
    resolved_by       TEXT,
    resolved_at       TEXT CHECK (resolved_at IS NULL OR julianday(resolved_at) IS NOT NULL),
    created_at        TEXT NOT NULL CHECK (julianday(created_at) IS NOT NULL),
    CHECK ((resolved_by IS NULL) = (resolved_at IS NULL))
) STRICT;

CREATE TABLE IF NOT EXISTS direct_channels (
    id         TEXT PRIMARY KEY,
    session_a  TEXT NOT NULL,                    -- the implementing worker
    session_b  TEXT NOT NULL,                    -- the testing worker
    status     TEXT NOT NULL DEFAULT 'active',
    created_at TEXT NOT NULL CHECK (julianday(created_at) IS NOT NULL)
) STRICT;

CREATE TABLE IF NOT EXISTS direct_messages (
    id           TEXT PRIMARY KEY,
    channel_id   TEXT NOT NULL REFERENCES direct_channels (id),
    from_session TEXT NOT NULL,
    to_session   TEXT NOT NULL,
    message_type TEXT NOT NULL CHECK (message_type IN ('result', 'feedback', 'query')),
    payload      TEXT CHECK (payload IS NULL OR json_valid(payload)),
    delivered_at TEXT CHECK (delivered_at IS NULL OR julianday(delivered_at) IS NOT NULL),
    created_at   TEXT NOT NULL CHECK (julianday(created_at) IS NOT NULL)
) STRICT;

CREATE TABLE IF NOT EXISTS routing_history (
    id             TEXT PRIMARY KEY,
    session_id     TEXT NOT NULL,                -- the case
    checkpoint     TEXT NOT NULL,
    iteration      INTEGER NOT NULL CHECK (iteration >= 1), -- 1 for the first run analyzed
    streak         INTEGER NOT NULL CHECK (streak >= 0),   -- grows with every green run and reset
    fix_attempts   INTEGER NOT NULL CHECK (fix_attempts >= 0), -- returned for a fix so far, this one included
    result         TEXT NOT NULL CHECK (result IN ('PASS', 'RETRY', 'ESCALATE_DESIGN', 'ESCALATE_ENV', 'ESCALATE_TIMEOUT',
                                                   'ESCALATE_UNCLEAR', 'ESCALATE_MAX_RETRY', 'ESCALATE_NO_PROGRESS',
                                                   'ESCALATE_NO_ANSWER',
                                                   'PRE_EXISTING', 'RERUN', 'SUSPECT', 'INCIDENT', 'INTERACTION', 'GROUP_FAILED')),
    reason         TEXT,                         -- the class, null for a pass
    explanation    TEXT,
    class          TEXT,
    run_id         TEXT NOT NULL,
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    sha            TEXT,
    tests          INTEGER NOT NULL CHECK (tests >= 0),
    failed         INTEGER NOT NULL CHECK (failed >= 0),
    at             TEXT NOT NULL CHECK (julianday(at) IS NOT NULL)
) STRICT;

CREATE TABLE IF NOT EXISTS answers (             -- what people decided about cases
    id         TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,                    -- the case
    checkpoint TEXT NOT NULL,
    action     TEXT NOT NULL CHECK (action <> ''),
    user_id    TEXT,
    detail     TEXT NOT NULL CHECK (json_valid(detail)),
    at         TEXT NOT NULL CHECK (julianday(at) IS NOT NULL)
) STRICT;

CREATE TABLE IF NOT EXISTS feedback_requests (      -- their current state
    id           TEXT PRIMARY KEY,               -- the key of the stream, /, and feedback_id
    feedback_id  TEXT NOT NULL CHECK (feedback_id GLOB 'FB-[0-9][0-9][0-9]*' AND substr(feedback_id, 4) NOT GLOB '*[^0-9]*'),
    plan         TEXT,
    type         TEXT NOT NULL,                  -- of what was rejected it may be anything
    source       TEXT NOT NULL,
    target       TEXT NOT NULL,
    round        INTEGER NOT NULL CHECK (round IN (0, 1, 2)), -- 0: rejected
    status       TEXT NOT NULL CHECK (status IN ('queued', 'delivered', 'processing', 'verifying', 'resolved', 'failed', 'rejected')),
    priority     TEXT,
    message      TEXT NOT NULL,
    refusal      TEXT,                           -- why it was rejected
    escalates    TEXT,                           -- feedback_id of what led to it
    timestamp    TEXT NOT NULL CHECK (julianday(timestamp) IS NOT NULL),
    resolved_at  TEXT CHECK (resolved_at IS NULL OR julianday(resolved_at) IS NOT NULL),
    failed_at    TEXT CHECK (failed_at IS NULL OR julianday(failed_at) IS NOT NULL),
    CHECK ((status = 'resolved') = (resolved_at IS NOT NULL)),
    CHECK ((status = 'failed') = (failed_at IS NOT NULL)),
    CHECK ((status = 'rejected') = (refusal IS NOT NULL)),
    CHECK (status = 'rejected' OR type IN ('FIX_REQUEST', 'CONTEXT_REQUEST', 'DEPENDENCY_MISSING', 'ARCHITECTURE_ISSUE'))
) STRICT;

CREATE TABLE IF NOT EXISTS inventories (         -- the tests of a run, or of one leg of its matrix, as far as they are kept
    id         TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,                    -- the case
    checkpoint TEXT NOT NULL,
    run_id     TEXT NOT NULL,
    attempt    INTEGER NOT NULL CHECK (attempt > 0),
    part       TEXT,                             -- the leg of a matrix
    sha        TEXT,
    passed     INTEGER NOT NULL CHECK (passed >= 0),
    skipped    INTEGER NOT NULL CHECK (skipped >= 0),
    flaky      INTEGER NOT NULL CHECK (flaky >= 0), -- failed and then passed within the run
    failed     INTEGER NOT NULL CHECK (failed >= 0),
    complete   INTEGER NOT NULL CHECK (complete IN (0, 1)), -- 0: tests that passed are missing
    at         TEXT NOT NULL CHECK (julianday(at) IS NOT NULL)
) STRICT;

CREATE TABLE IF NOT EXISTS tests (               -- what the ids of tests stand for, as of the newest runs of the default branch
    id         TEXT PRIMARY KEY,
    test       TEXT NOT NULL,                    -- id of the test: a hash of checkpoint, suite and name
    checkpoint TEXT NOT NULL,
    suite      TEXT,
    name       TEXT NOT NULL,
    file       TEXT,
    owner      TEXT                              -- as CODEOWNERS names them, separated by blanks
) STRICT;

CREATE TABLE IF NOT EXISTS quarantine (          -- flaky tests
    id         TEXT PRIMARY KEY,
    test       TEXT NOT NULL,                    -- id of the test
    checkpoint TEXT NOT NULL,
    suite      TEXT,
    name       TEXT NOT NULL,
    file       TEXT,
    owners     TEXT NOT NULL CHECK (json_valid(owners)),
    evidence   TEXT NOT NULL CHECK (json_valid(evidence)), -- the runs in which it failed and passed
    standing   TEXT NOT NULL CHECK (standing IN ('seen', 'proposed', 'quarantined', 'expired', 'released')),
    since      TEXT CHECK (since IS NULL OR julianday(since) IS NOT NULL),
    until      TEXT CHECK (until IS NULL OR julianday(until) IS NOT NULL), -- its failures count from then on
    by         TEXT,
    issue      INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS incidents (
    id          TEXT PRIMARY KEY,                -- the key of the stream, /, and incident
    incident    TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('environment', 'base')),
    causes      TEXT NOT NULL CHECK (json_valid(causes)),
    base        TEXT,                            -- branch whose green run ends it
    standing    TEXT NOT NULL CHECK (standing IN ('open', 'testing', 'resuming', 'over', 'dismissed')),
    opened_at   TEXT NOT NULL CHECK (julianday(opened_at) IS NOT NULL),
    resolved_at TEXT CHECK (resolved_at IS NULL OR julianday(resolved_at) IS NOT NULL), -- when the cause was said to be over
    ended_at    TEXT CHECK (ended_at IS NULL OR julianday(ended_at) IS NOT NULL), -- when every member was restarted, or it was dismissed
    resolved_by TEXT,                            -- null: a green run
    sha         TEXT,                            -- of the green run
    reopened    INTEGER NOT NULL CHECK (reopened >= 0),
    issue       INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS incident_members (    -- checkpoints that an incident holds or held
    id           TEXT PRIMARY KEY,
    incident_id  TEXT NOT NULL REFERENCES incidents (id),
    session_id   TEXT NOT NULL,                  -- the case
    checkpoint   TEXT NOT NULL,
    author       TEXT,
    run_id       TEXT NOT NULL,                  -- the newest that failed by the cause
    joined_at    TEXT NOT NULL CHECK (julianday(joined_at) IS NOT NULL),
    restarted_at TEXT CHECK (restarted_at IS NULL OR julianday(restarted_at) IS NOT NULL),
    left_at      TEXT CHECK (left_at IS NULL OR julianday(left_at) IS NOT NULL),
    how          TEXT CHECK (how IS NULL OR how IN ('passed', 'own', 'closed', 'other')), -- it left
    CHECK ((how IS NULL) = (left_at IS NULL))
) STRICT;

CREATE TABLE IF NOT EXISTS unpassed_tests (
    id           TEXT PRIMARY KEY,
    inventory_id TEXT NOT NULL REFERENCES inventories (id),
    test         TEXT NOT NULL,                  -- id of the test: a hash of checkpoint, suite and name
    status       TEXT NOT NULL CHECK (status IN ('skipped', 'flaky', 'failed')),
    fingerprint  TEXT                            -- of the failure
) STRICT;

CREATE INDEX IF NOT EXISTS unpassed_tests_test ON unpassed_tests (test);
CREATE INDEX IF NOT EXISTS routing_history_session ON routing_history (session_id, checkpoint, at);
CREATE INDEX IF NOT EXISTS answers_session ON answers (session_id, checkpoint, at);
CREATE INDEX IF NOT EXISTS incident_members_session ON incident_members (session_id, checkpoint, joined_at);
