/**
 * Triggers that keep the audit log as it was written, whatever writes to the database. A row gets its outcome once, a row that counts
 * counts, and rows are deleted by their age alone. The text is part of migration 0112, so another one needs a migration of its own.
 */
import { DAY_MS } from '../system/clock.ts';

/**
 * Age below which no row is deleted, in milliseconds. It is less than the 400 days of retention, because the time that the installation has stored
 * last (`wallAt`) is older than the present.
 */
const KEPT_MS = 390 * DAY_MS;

export const AUDIT_GUARDS = `
CREATE TRIGGER auditKeepsRows BEFORE DELETE ON auditEntries
WHEN OLD.at > (SELECT coalesce(max(wallAt), 0) FROM installation) - ${KEPT_MS} BEGIN
  SELECT RAISE(ABORT, 'the audit log keeps its rows');
END;
CREATE TRIGGER auditKeepsValues BEFORE UPDATE ON auditEntries
WHEN NOT (
  NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.personId IS OLD.personId AND NEW.mailboxId IS OLD.mailboxId
  AND NEW.actor = OLD.actor AND NEW.address = OLD.address AND NEW.action = OLD.action AND NEW.target = OLD.target
  AND NEW.mode IS OLD.mode AND NEW.details = OLD.details AND (NEW.tenantId IS OLD.tenantId OR OLD.tenantId IS NULL)
  AND CASE
    WHEN OLD.outcome IS NULL THEN coalesce(NEW.outcome, '') IN ('done', 'refused', 'failed') AND NEW.times = OLD.times
    ELSE OLD.outcome = 'counted' AND NEW.outcome IS 'counted' AND NEW.times = OLD.times + 1 AND NEW.tenantId IS OLD.tenantId
  END
) BEGIN
  SELECT RAISE(ABORT, 'the audit log keeps its values');
END;
`;
