-- The ledger: streams, and the events of each, to which is only added.

CREATE TABLE ledger_stream (
    id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE CHECK (key <> '')  -- U+0000 is written U+0001 U+0001, and U+0001 U+0001 U+0002
);

CREATE TABLE ledger_event (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- over all streams; what was begun later may be seen earlier
    stream bigint NOT NULL REFERENCES ledger_stream (id),
    seq    bigint NOT NULL CHECK (seq > 0),                 -- 1, 2, … in the stream; the last is the stream's version
    event  text NOT NULL CHECK (event <> ''),               -- JSON, as in the other ledgers; not jsonb, which knows no \u0000
    UNIQUE (stream, seq)
);

CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a ledger is only added to';
END $$;

CREATE TRIGGER ledger_event_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_event
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_stream_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_stream
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();

-- Blobs beside the streams: what is too large for an event, and may be deleted.

CREATE TABLE ledger_blob (
    folder text COLLATE "C" NOT NULL CHECK (folder <> ''),  -- of the stream, as the name of its file in a directory
    name   text COLLATE "C" NOT NULL CHECK (name <> ''),    -- the SHA-256 of data
    data   bytea NOT NULL,
    PRIMARY KEY (folder, name)
);
