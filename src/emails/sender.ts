/** Checks that an API key may send from a domain, and that the domain may send. */
import type { App } from '../app.ts';
import { getSendingDomain, type Sender, type SenderDomain } from '../domains/sender.ts';
import { findDomainByName } from '../domains/sending/store.ts';
import { AppError } from '../system/errors.ts';
import type { Caller } from '../tenants/authenticate.ts';

/**
 * Returns the sending domain.
 * @throws AppError restricted_api_key, domain_not_verified
 */
export async function requireSender(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  { tenantId, mode, domainId }: Omit<Caller, 'keyId'>,
  { domain, simulatorOnly }: Pick<Sender, 'domain' | 'simulatorOnly'>,
): Promise<SenderDomain> {
  if (domainId !== null) {
    const own = await findDomainByName(app.db.read, tenantId, domain);
    if (own?.id !== domainId)
      throw new AppError('restricted_api_key', `This API key cannot send from ${domain}`, {
        param: 'from',
      });
  }
  return getSendingDomain(app, { tenantId, mode, domain, simulatorOnly });
}
