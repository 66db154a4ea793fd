/** The migration of the approvals of broadcasts that wait to be sent now. */
import type { Migration } from './migrate.ts';

/**
 * Indexes for the approvals that a key of one domain sees. A broadcast that is to be sent now, and no more at a time that needs approval,
 * becomes a draft, as each does that asks for it since then.
 */
export const APPROVALS_BY_DOMAIN: Migration = {
  id: '0108-approvals-by-domain',
  sql: `UPDATE broadcasts SET status = 'draft' WHERE status = 'scheduled'
  AND EXISTS (SELECT 1 FROM approvals WHERE reference = broadcasts.id AND state IN ('pending', 'approved') AND sendAt IS NULL)
  AND EXISTS (SELECT 1 FROM approvals WHERE reference = broadcasts.id AND state = 'withdrawn' AND sendAt IS NOT NULL);
UPDATE broadcastRuns SET scheduleAt = NULL WHERE startedAt IS NULL AND scheduleAt IS NOT NULL
  AND broadcastId IN (SELECT id FROM broadcasts WHERE status = 'draft');
CREATE INDEX approvalsByDomain ON approvals (tenantId, mode, domainId, id);
CREATE INDEX approvalsByDomainAndState ON approvals (tenantId, mode, domainId, state, id);
`,
};
