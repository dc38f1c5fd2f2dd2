-- The id of a delivery is in a header that GitHub does not sign. The digest of the signed body tells
-- a body that is sent again under another id.

ALTER TABLE delivery ADD COLUMN digest TEXT; -- SHA-256 in hexadecimal; null for deliveries that GitHub did not send
CREATE UNIQUE INDEX delivery_digest ON delivery (digest) WHERE digest IS NOT NULL;
