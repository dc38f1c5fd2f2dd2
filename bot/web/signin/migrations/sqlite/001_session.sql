-- The sessions of signed-in people. The secret of the browser is stored as a hash, the user access
-- token encrypted.

CREATE TABLE signin_session (
    id       TEXT PRIMARY KEY CHECK (id <> ''), -- hash of the secret in the cookie
    user_id  INTEGER NOT NULL,
    login    TEXT NOT NULL,
    avatar   TEXT NOT NULL,
    token    TEXT NOT NULL,                     -- encrypted
    repos    TEXT NOT NULL,                     -- JSON: ids of the repositories that the user may read
    began_at INTEGER NOT NULL,                  -- ms, as all times
    used_at  INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,                  -- last answer of GitHub
    tried_at INTEGER NOT NULL,                  -- last question without an answer
    renewing INTEGER NOT NULL                   -- until when a process holds the lease to renew the token
) STRICT, WITHOUT ROWID;
CREATE INDEX signin_session_user ON signin_session (user_id, began_at);
CREATE INDEX signin_session_used ON signin_session (used_at);
