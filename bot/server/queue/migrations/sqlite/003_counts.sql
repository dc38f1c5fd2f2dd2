-- The results of attempts, counted by kind.

ALTER TABLE delivery ADD COLUMN failures INTEGER NOT NULL DEFAULT 0; -- attempts that failed
ALTER TABLE delivery ADD COLUMN delays INTEGER NOT NULL DEFAULT 0;   -- delayed without advice on how long
ALTER TABLE delivery ADD COLUMN kills INTEGER NOT NULL DEFAULT 0;    -- crashes of the process during an attempt
