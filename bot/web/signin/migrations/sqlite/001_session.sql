-- Who is signed in. Neither what a browser shows to be let in nor what GitHub takes
-- for the user's is here as it is: the one as a hash, the other encrypted.

CREATE TABLE signin_session (
    id       TEXT PRIMARY KEY CHECK (id <> ''), -- hash of what the cookie holds
    user_id  INTEGER NOT NULL,
    login    TEXT NOT NULL,
    avatar   TEXT NOT NULL,
    token    TEXT NOT NULL,                     -- sealed
    repos    TEXT NOT NULL,                     -- JSON: ids of the repositories that may be seen
    began_at INTEGER NOT NULL,                  -- ms, as all times
    used_at  INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,                  -- when GitHub said what may be seen
    tried_at INTEGER NOT NULL,                  -- when GitHub did not say
    renewing INTEGER NOT NULL                   -- until when somebody renews the token
) STRICT, WITHOUT ROWID;
CREATE INDEX signin_session_user ON signin_session (user_id, began_at);
CREATE INDEX signin_session_used ON signin_session (used_at);
