-- The ledger: streams, and the events of each, to which is only added.

CREATE TABLE ledger_stream (
    id  INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE CHECK (key <> '')   -- U+0000 is written U+0001 U+0001, and U+0001 U+0001 U+0002
) STRICT;

CREATE TABLE ledger_event (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,    -- over all streams, ascending
    stream INTEGER NOT NULL REFERENCES ledger_stream (id),
    seq    INTEGER NOT NULL CHECK (seq > 0),     -- 1, 2, … in the stream; the last is the stream's version
    event  TEXT NOT NULL CHECK (event <> ''),    -- JSON, as in the other ledgers
    UNIQUE (stream, seq)
) STRICT;

CREATE TRIGGER ledger_event_follows BEFORE INSERT ON ledger_event
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM ledger_event WHERE stream = NEW.stream)
BEGIN SELECT raise(ABORT, 'the stream has moved on'); END;

CREATE TRIGGER ledger_event_stays BEFORE UPDATE ON ledger_event
BEGIN SELECT raise(ABORT, 'a ledger is only added to'); END;
CREATE TRIGGER ledger_event_remains BEFORE DELETE ON ledger_event
BEGIN SELECT raise(ABORT, 'a ledger is only added to'); END;
CREATE TRIGGER ledger_stream_stays BEFORE UPDATE ON ledger_stream
BEGIN SELECT raise(ABORT, 'a ledger is only added to'); END;
CREATE TRIGGER ledger_stream_remains BEFORE DELETE ON ledger_stream
BEGIN SELECT raise(ABORT, 'a ledger is only added to'); END;

-- Blobs beside the streams: what is too large for an event, and may be deleted.

CREATE TABLE ledger_blob (
    folder TEXT NOT NULL CHECK (folder <> ''),  -- of the stream, as the name of its file in a directory
    name   TEXT NOT NULL CHECK (name <> ''),    -- the SHA-256 of data
    data   BLOB NOT NULL,
    PRIMARY KEY (folder, name)
) STRICT;
