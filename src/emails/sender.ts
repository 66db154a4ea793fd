/** Checks that an API key may send from a domain, and that the domain may send. */
import type { App } from '../app.ts';
import type { FindDomain } from '../domains/named-domains.ts';
import { requireReach } from '../domains/reach.ts';
import { getSendingDomain, type Sender, type SenderDomain } from '../domains/sender.ts';
import type { CallerScope } from '../tenants/authenticate.ts';

/**
 * Returns the sending domain. `findDomain` serves those who send much; without it, the database is asked.
 * @throws AppError restricted_api_key, domain_not_verified
 */
export async function requireSender(
  app: Pick<App, 'db' | 'clock' | 'config'> & { findDomain?: FindDomain },
  { mode, ...reach }: CallerScope,
  { domain, simulatorOnly }: Pick<Sender, 'domain' | 'simulatorOnly'>,
): Promise<SenderDomain> {
  await requireReach(app.db.read, reach, { domain, what: 'send from', param: 'from' });
  const sender = { tenantId: reach.tenantId, mode, domain, simulatorOnly };
  return getSendingDomain(app, sender, app.findDomain);
}
