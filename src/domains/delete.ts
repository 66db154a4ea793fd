/** Deletes a domain, unless it has scheduled mail or broadcasts (specification 4.3). */
import type { App } from '../app.ts';
import { AppError } from '../system/errors.ts';
import { countScheduled } from './spool/store.ts';
import { type Domain, endDomain } from './store.ts';

/**
 * Deletes a domain.
 * @throws AppError not_found, domain_in_use with `details.scheduledEmails` and `details.scheduledBroadcasts`
 */
export async function deleteDomain(
  app: Pick<App, 'db' | 'clock'>,
  tenantId: Domain['tenantId'],
  id: string,
): Promise<void> {
  const now = app.clock.now();
  const outcome = await app.db.commit(endDomain, { id, tenantId, now });
  if (outcome.kind === 'ended') return;
  const { domainId, scheduledBroadcasts } = outcome;
  const counted = await app.db.query(countScheduled, { domainId, now });
  // The scheduled mail that the write has seen may have been sent since.
  const scheduledEmails = outcome.hasScheduledMail ? Math.max(counted, 1) : counted;
  const parts = [
    ...(scheduledEmails > 0 ? [plural(scheduledEmails, 'scheduled email')] : []),
    ...(scheduledBroadcasts > 0
      ? [`${plural(scheduledBroadcasts, 'broadcast')} scheduled or not completely sent`]
      : []),
  ];
  const remedy =
    scheduledEmails + scheduledBroadcasts === 1
      ? 'cancel it or wait until it is sent'
      : 'cancel them or wait until they are sent';
  throw new AppError('domain_in_use', `Domain has ${parts.join(', and ')}; ${remedy}`, {
    details: { scheduledEmails, scheduledBroadcasts },
  });
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
