-- Tokens with which agents read what the person of a session may read. A token ends with its session.

CREATE TABLE signin_agent (
    id      text PRIMARY KEY CHECK (id <> ''), -- hash of the token
    session text NOT NULL,                     -- id of the session
    made_at bigint NOT NULL                   -- ms
);
CREATE INDEX signin_agent_session ON signin_agent (session, made_at);
