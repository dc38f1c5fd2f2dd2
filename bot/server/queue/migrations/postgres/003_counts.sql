-- What the attempts came to, each counted by itself.

ALTER TABLE delivery ADD COLUMN failures integer NOT NULL DEFAULT 0; -- attempts that failed
ALTER TABLE delivery ADD COLUMN delays integer NOT NULL DEFAULT 0;   -- put off, and nobody said for how long
ALTER TABLE delivery ADD COLUMN kills integer NOT NULL DEFAULT 0;    -- the process ended over it
