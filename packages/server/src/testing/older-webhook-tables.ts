/** Replaces the tables of webhooks by those of formats 2 and 3 in PostgreSQL. */
export const OLDER_WEBHOOK_TABLES = `
  DROP TABLE webhook_cursor, webhook_delivery;
  CREATE TABLE webhook (id text PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY, data text NOT NULL);
  CREATE TABLE webhook_cursor (
    webhook text NOT NULL, simulation text NOT NULL, seq bigint NOT NULL, place bigint NOT NULL,
    PRIMARY KEY (webhook, simulation)
  );
  CREATE TABLE webhook_delivery (
    id text PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY, webhook text NOT NULL, simulation text NOT NULL,
    event text NOT NULL, seq bigint NOT NULL, place bigint NOT NULL, status text NOT NULL, next_at bigint,
    tried_at bigint NOT NULL, data text NOT NULL
  );
  CREATE INDEX webhook_delivery_by_webhook ON webhook_delivery (webhook, n);
  CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, next_at) WHERE status = 'PENDING';
  CREATE INDEX webhook_delivery_by_place ON webhook_delivery (webhook, simulation, seq, place);
`;
