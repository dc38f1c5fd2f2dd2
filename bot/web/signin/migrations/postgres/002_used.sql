-- States of sign-ins that have returned from GitHub. Each is good for once, in all replicas.

CREATE TABLE signin_used (
    state       text PRIMARY KEY CHECK (state <> ''), -- hash
    valid_until bigint NOT NULL                          -- ms: afterwards the sign-in is refused for its age
);
CREATE INDEX signin_used_until ON signin_used (valid_until);
