/** The migrations of the main database with which plans say how much mail of a tenant leaves in its turn. */
import type { Migration } from './migrate.ts';

export const WEIGHTS_OF_PLANS: Migration = {
  id: '0129-weights-of-plans',
  sql: 'ALTER TABLE plans ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;',
};

/** The tenants of the few plans with a weight are found without those of all others. */
export const INDEX_OF_PLANS: Migration = {
  id: '0130-index-of-plans',
  sql: 'CREATE INDEX tenantsOfPlan ON tenants (plan);',
};
