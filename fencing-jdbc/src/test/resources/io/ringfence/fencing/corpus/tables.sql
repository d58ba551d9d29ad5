-- The tables that the statements are about. Every row is from one transaction, and carries token 10 or 20; a customer has none.

CREATE TYPE address AS (street text, city text);

CREATE TABLE invoice (
    id int PRIMARY KEY,
    customer_id int,
    status text,
    total numeric(12, 2),
    note text,
    tags text[],
    doc jsonb,
    scores int[],
    place address,
    due date,
    paid boolean,
    "where" int,
    "Order" text,
    fencing_token bigint NOT NULL DEFAULT 0
);
INSERT INTO invoice VALUES
    (1, 1, 'open', 100, 'first', '{a,b}', '{"k": 1, "lines": [{"sku": "x"}]}', '{1,2,3}', ('Main St', 'Bern'), '2026-01-10', false, 1, 'o1', 10),
    (2, 1, 'open', 250.5, NULL, '{b}', '{"k": 2}', '{4}', ('Hill Rd', 'Bonn'), '2026-02-01', true, 2, 'o2', 20),
    (3, 2, 'closed', 0, 'x', '{}', '{"z": null}', '{}', NULL, NULL, false, 3, NULL, 10),
    (4, 2, 'open', 75, 'where', '{a}', '{"k": "?"}', '{7,8}', ('A', 'B'), '2026-03-05', NULL, 4, 'o4', 20),
    (5, 3, 'draft', 10, 'it''s', '{c,a}', '{}', '{1}', (NULL, 'Bern'), '2025-12-31', true, 5, 'o5', 10),
    (6, NULL, 'draft', NULL, 'six', NULL, NULL, NULL, NULL, NULL, true, NULL, 'o6', 20);

CREATE TABLE line (
    invoice_id int,
    no int,
    sku text DEFAULT 'none',
    qty int,
    price numeric(12, 2),
    fencing_token bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (invoice_id, no)
);
INSERT INTO line VALUES
    (1, 1, 'x', 2, 5, 20),
    (1, 2, 'y', 1, 10, 10),
    (2, 1, 'x', 3, 5, 10),
    (2, 2, 'z', 1, 10, 10),
    (3, 1, 'x', 0, 0, 20),
    (4, 1, 'y', 5, 2, 10),
    (4, 2, 'x', 1, 1, 20),
    (5, 1, 'w', 1, 1, 20);

CREATE TABLE customer (id int PRIMARY KEY, name text, city text, vip boolean, credit numeric);
INSERT INTO customer VALUES
    (1, 'Ada', 'Bern', true, 100),
    (2, 'Bob', 'Bonn', false, 0),
    (3, 'Cyd', 'Bern', true, 50),
    (4, 'Dan', NULL, NULL, NULL);

CREATE SCHEMA billing;
CREATE TABLE billing.account (
    id int PRIMARY KEY,
    owner text,
    balance numeric,
    "from" date,
    limits int4range,
    fencing_token bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX ON billing.account (lower(owner)) WHERE balance > 0;
INSERT INTO billing.account VALUES
    (1, 'Ada', 100, '2026-01-01', '[0,10)', 20),
    (2, 'Bob', 50, NULL, NULL, 10),
    (3, 'Cyd', 0, '2026-01-02', 'empty', 20),
    (4, 'Dan', -5, NULL, NULL, 10);

CREATE TABLE event (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    id int UNIQUE,
    kind text,
    payload jsonb,
    at timestamptz DEFAULT '2026-06-01 12:00:00+00',
    fencing_token bigint NOT NULL DEFAULT 0
);
INSERT INTO event (id, kind, payload, fencing_token) VALUES
    (1, 'created', '{"by": "ada"}', 10),
    (2, 'paid', '{"by": "bob", "n": 2}', 20),
    (3, 'created', NULL, 20);

CREATE TABLE asset (id int PRIMARY KEY, name text, value int, fencing_token bigint NOT NULL DEFAULT 0);
CREATE TABLE vehicle (plate text) INHERITS (asset);
INSERT INTO asset VALUES (1, 'desk', 100, 10), (2, 'lamp', 20, 20);
INSERT INTO vehicle VALUES (3, 'van', 9000, 20, 'be-1'), (4, 'bike', 300, 10, 'be-2');

CREATE TABLE ledger (
    id int,
    region text,
    amount numeric,
    fencing_token bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (id, region)
) PARTITION BY LIST (region);
CREATE TABLE ledger_eu PARTITION OF ledger FOR VALUES IN ('eu');
CREATE TABLE ledger_us PARTITION OF ledger FOR VALUES IN ('us');
INSERT INTO ledger VALUES (1, 'eu', 5, 10), (2, 'eu', 6, 20), (3, 'us', 7, 20), (4, 'us', 8, 10);

CREATE TABLE "Kunden Daten" (
    "Id" int PRIMARY KEY,
    "E-Mail" text,
    "select" int,
    fencing_token bigint NOT NULL DEFAULT 0
);
INSERT INTO "Kunden Daten" VALUES (1, 'a@x', 1, 10), (2, 'b@x', 2, 20), (3, NULL, 3, 20);

-- All rows that matter, each with a text of its content without the token. Numbers of identities are no content.
CREATE VIEW every_row AS
          SELECT xmin, fencing_token, ROW (id, customer_id, status, total, note, tags, doc, scores, place, due, paid, "where", "Order")::text AS content FROM invoice
UNION ALL SELECT xmin, fencing_token, ROW ('line', invoice_id, no, sku, qty, price)::text FROM line
UNION ALL SELECT xmin, NULL, ROW ('customer', id, name, city, vip, credit)::text FROM customer
UNION ALL SELECT xmin, fencing_token, ROW ('account', id, owner, balance, "from", limits)::text FROM billing.account
UNION ALL SELECT xmin, fencing_token, ROW ('event', id, kind, payload, at)::text FROM event
UNION ALL SELECT xmin, fencing_token, ROW ('asset', id, name, value)::text FROM ONLY asset
UNION ALL SELECT xmin, fencing_token, ROW ('vehicle', id, name, value, plate)::text FROM vehicle
UNION ALL SELECT xmin, fencing_token, ROW ('ledger', id, region, amount)::text FROM ledger_eu
UNION ALL SELECT xmin, fencing_token, ROW ('ledger', id, region, amount)::text FROM ledger_us
UNION ALL SELECT xmin, fencing_token, ROW ('Kunden Daten', "Id", "E-Mail", "select")::text FROM "Kunden Daten";

-- The transaction that wrote them all is the only one a row has, unless it was written since.
CREATE TABLE origin AS SELECT DISTINCT xmin AS transaction FROM every_row;
CREATE UNIQUE INDEX ON origin ((true));

-- What a leader with that token sees: how many old rows without a lower or equal token are still as they were, how many new
-- ones carry another token, how many were written at all, and how many are old.
CREATE FUNCTION look(token bigint, OUT kept int, OUT foreign_tokens int, OUT written int, OUT old int)
STABLE LANGUAGE plpgsql AS $$
DECLARE
    was CONSTANT xid := (SELECT transaction FROM origin);
BEGIN
    SELECT count(*) FILTER (WHERE xmin = was AND (fencing_token <= token) IS NOT TRUE),
           count(*) FILTER (WHERE xmin <> was AND fencing_token IS DISTINCT FROM token),
           count(*) FILTER (WHERE xmin <> was),
           count(*) FILTER (WHERE xmin = was)
      INTO kept, foreign_tokens, written, old
      FROM every_row;
END
$$;

-- The same, and a sum over what all rows are now, in which new ones count as others.
CREATE FUNCTION look_closely(
    token bigint, OUT kept int, OUT foreign_tokens int, OUT written int, OUT old int, OUT contents numeric)
STABLE LANGUAGE plpgsql AS $$
DECLARE
    was CONSTANT xid := (SELECT transaction FROM origin);
BEGIN
    SELECT l.kept, l.foreign_tokens, l.written, l.old INTO kept, foreign_tokens, written, old FROM look(token) l;
    SELECT sum(hashtextextended(content, CASE WHEN xmin = was THEN 0 ELSE 1 END)::numeric)
      INTO contents
      FROM every_row;
END
$$;
