/** Whether a key may send from an address: as far as the key goes, and then as far as the domain does. */
import type { App } from '../app.ts';
import { getSendingDomain, type Sender } from '../domains/sender.ts';
import { type Domain, findDomainByName } from '../domains/store.ts';
import { AppError } from '../system/errors.ts';
import type { Caller } from '../tenants/authenticate.ts';

/** @throws AppError restricted_api_key, domain_not_verified */
export async function requireSender(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  { tenantId, mode, domainId }: Caller,
  { domain, simulatorOnly }: Pick<Sender, 'domain' | 'simulatorOnly'>,
): Promise<{ domainId: Domain['id'] | null }> {
  if (domainId !== null) {
    const own = await findDomainByName(app.db.read, tenantId, domain);
    if (own?.id !== domainId)
      throw new AppError('restricted_api_key', `This API key does not send from ${domain}`, {
        param: 'from',
      });
  }
  return getSendingDomain(app, { tenantId, mode, domain, simulatorOnly });
}
