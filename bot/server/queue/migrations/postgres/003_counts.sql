-- The results of attempts, counted by kind.

ALTER TABLE delivery ADD COLUMN failures integer NOT NULL DEFAULT 0; -- attempts that failed
ALTER TABLE delivery ADD COLUMN delays integer NOT NULL DEFAULT 0;   -- delayed without advice on how long
ALTER TABLE delivery ADD COLUMN kills integer NOT NULL DEFAULT 0;    -- crashes of the process during an attempt
