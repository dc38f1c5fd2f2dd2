-- The sessions of signed-in people. The secret of the browser is stored as a hash, the user access
-- token encrypted.

CREATE TABLE signin_session (
    id       text PRIMARY KEY CHECK (id <> ''), -- hash of the secret in the cookie
    user_id  bigint NOT NULL,
    login    text NOT NULL,
    avatar   text NOT NULL,
    token    text NOT NULL,                     -- encrypted
    repos    text NOT NULL,                     -- JSON: ids of the repositories that the user may read
    began_at bigint NOT NULL,                  -- ms, as all times
    used_at  bigint NOT NULL,
    asked_at bigint NOT NULL,                  -- last answer of GitHub
    tried_at bigint NOT NULL,                  -- last question without an answer
    renewing bigint NOT NULL                   -- until when a process holds the lease to renew the token
);
CREATE INDEX signin_session_user ON signin_session (user_id, began_at);
CREATE INDEX signin_session_used ON signin_session (used_at);
