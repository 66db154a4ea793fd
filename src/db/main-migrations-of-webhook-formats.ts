/** The migration of the main database with which endpoints of webhooks choose the shape of what is posted to them. */
import type { Migration } from './migrate.ts';

export const WEBHOOK_FORMATS: Migration = {
  id: '0118-webhook-formats',
  sql: "ALTER TABLE webhookEndpoints ADD COLUMN format TEXT NOT NULL DEFAULT 'default';",
};
