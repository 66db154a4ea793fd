/** Decides which domains this installation receives mail for: its own, and those that a tenant has verified. */
import type { App } from '../../app.ts';
import { sandboxDomain } from '../name.ts';
import { bounceDomain } from '../records.ts';
import { findReceiver, isReturnPathHost } from './store.ts';

/**
 * Returns true when this installation receives mail for the domain, which is in lower case and A-labels: its hostname, the
 * sandbox, the domain of return paths, the domain of a tenant, and the return path of one.
 */
export async function receivesFor(
  { config, db, clock }: Pick<App, 'config' | 'db' | 'clock'>,
  domain: string,
): Promise<boolean> {
  const own = [config.hostname.toLowerCase(), sandboxDomain(config), bounceDomain(config)];
  if (own.includes(domain)) return true;
  const receiver = await findReceiver(db.read, domain, clock.now());
  return receiver !== undefined || (await isReturnPathHost(db.read, domain));
}
