/** The migration of the main database with which plans say how much mail of a tenant leaves in its turn. */
import type { Migration } from './migrate.ts';

export const WEIGHTS_OF_PLANS: Migration = {
  id: '0129-weights-of-plans',
  sql: 'ALTER TABLE plans ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;',
};
