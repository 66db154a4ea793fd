/** The migration of the main database with which lines of the audit log are there before the action, get its outcome, and are guarded. */
import { AUDIT_GUARDS } from './audit-guards.ts';
import type { Migration } from './migrate.ts';

/** Lines were written after the action until now. Those that count have lost their details. */
export const AUDIT_OUTCOMES: Migration = {
  id: '0112-audit-outcomes',
  sql: `ALTER TABLE auditEntries ADD COLUMN outcome TEXT;
UPDATE auditEntries SET outcome = CASE WHEN details = '' THEN 'counted' WHEN action LIKE '% refused' THEN 'refused' ELSE 'done' END;
${AUDIT_GUARDS}`,
};
