/** Deletes a domain, unless it has scheduled mail (specification 4.3). */
import type { App } from '../app.ts';
import { AppError } from '../system/errors.ts';
import { countScheduled } from './spool/store.ts';
import { type Domain, endDomain } from './store.ts';

/**
 * Deletes a domain.
 * @throws AppError not_found, domain_in_use with `details.scheduledEmails`
 */
export async function deleteDomain(
  app: Pick<App, 'db' | 'clock'>,
  tenantId: Domain['tenantId'],
  id: string,
): Promise<void> {
  const now = app.clock.now();
  const outcome = await app.db.commit(endDomain, { id, tenantId, now });
  if (outcome.kind === 'ended') return;
  // The write has seen at least one scheduled email, which may have been sent since.
  const scheduledEmails = Math.max(
    await app.db.query(countScheduled, { domainId: outcome.domainId, now }),
    1,
  );
  const them =
    scheduledEmails === 1
      ? '1 scheduled email; cancel it or wait until it is sent'
      : `${scheduledEmails} scheduled emails; cancel them or wait until they are sent`;
  throw new AppError('domain_in_use', `Domain has ${them}`, { details: { scheduledEmails } });
}
