-- Who is signed in. Neither what a browser shows to be let in nor what GitHub takes
-- for the user's is here as it is: the one as a hash, the other encrypted.

CREATE TABLE signin_session (
    id       text PRIMARY KEY CHECK (id <> ''), -- hash of what the cookie holds
    user_id  bigint NOT NULL,
    login    text NOT NULL,
    avatar   text NOT NULL,
    token    text NOT NULL,                     -- sealed
    repos    text NOT NULL,                     -- JSON: ids of the repositories that may be seen
    began_at bigint NOT NULL,                  -- ms, as all times
    used_at  bigint NOT NULL,
    asked_at bigint NOT NULL,                  -- when GitHub said what may be seen
    tried_at bigint NOT NULL,                  -- when GitHub did not say
    renewing bigint NOT NULL                   -- until when somebody renews the token
);
CREATE INDEX signin_session_user ON signin_session (user_id, began_at);
CREATE INDEX signin_session_used ON signin_session (used_at);
