/** The migration of the main database by which the sender of a forwarded message is told once that it is delayed. */
import type { Migration } from './migrate.ts';

export const FORWARD_DELAYS: Migration = {
  id: '0125-forward-delays',
  sql: 'ALTER TABLE failureNotifications ADD COLUMN delayReported INTEGER NOT NULL DEFAULT 0;',
};
