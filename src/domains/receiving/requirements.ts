/** Decides which domains this installation receives mail for, and at which addresses a tenant may have a route or a mailbox. */

import type { Config } from '../../config/config.ts';
import type { Tx } from '../../db/operation.ts';
import type { DomainRow } from '../../db/tables.ts';
import { AppError, invalid } from '../../system/errors.ts';
import type { PartApp } from '../../thread-app.ts';
import { sandboxDomain } from '../name.ts';
import { bounceDomain } from '../records.ts';
import { isSandboxDomain, isSimulatorDomain } from '../sender.ts';
import { findDomainByName } from '../sending-store.ts';
import { maySend } from '../states.ts';
import { findReceiver, isReturnPathHost } from './store.ts';

/** Address in lower case, and its domain in A-labels. */
type Address = { address: string; domain: string };

/**
 * Local parts of the sandbox domain that no tenant gets. Certification authorities send the mail that proves control of a
 * domain to the first five (Baseline Requirements 3.2.2.4.4), and the others are for its operator (RFC 2142 sections 2 and 4).
 */
const OPERATOR_NAMES: ReadonlySet<string> = new Set([
  ...['admin', 'administrator', 'hostmaster', 'postmaster', 'webmaster'],
  ...['abuse', 'noc', 'security', 'mailer-daemon'],
]);

/**
 * Checks that this installation lets a tenant receive mail at the address.
 * @throws AppError domain_not_verified for the simulator, which takes no mail from outside; validation_error for addresses of the
 * operator
 */
export function requireTenantAddress(
  config: Pick<Config, 'hostname'>,
  { address, domain }: Address,
  param = 'address',
): void {
  if (isSimulatorDomain(config, domain)) {
    throw new AppError(
      'domain_not_verified',
      `${domain} is the domain of the simulator, which receives no inbound mail; use the sandbox domain or one of your verified domains`,
      { param },
    );
  }
  if (isSandboxDomain(config, domain) && OPERATOR_NAMES.has(address.slice(0, -`@${domain}`.length))) {
    throw invalid(param, `\`${param}\`: ${address} belongs to the operator of this installation`);
  }
}

type OwnedDomain = { tenantId: DomainRow['tenantId']; domain: string };

/** `what` the tenant wants to receive mail with; `now` in Unix milliseconds; `param` names the field of the request. */
type Wish = { what: 'route' | 'mailbox'; now: number; param?: string };

/**
 * Returns the domain of the tenant when it is verified and the tenant receives its mail. A verified parent domain is not enough.
 * @throws AppError domain_not_verified, domain_in_use
 */
export async function requireReceivingDomain(tx: Tx, owned: OwnedDomain, wish: Wish) {
  const { tenantId, domain } = owned;
  const { now, param = 'address' } = wish;
  const found = await findDomainByName(tx, tenantId, domain);
  if (!found || !maySend(found, now)) {
    throw new AppError(
      'domain_not_verified',
      found
        ? `The domain ${domain} is not verified; publish its DNS records, then POST /v1/domains/${found.id}/verify`
        : `The domain ${domain} is not one of yours; add it with POST /v1/domains, then publish its DNS records`,
      { param },
    );
  }
  await requireNoOtherReceiver(tx, owned, wish);
  return found;
}

/**
 * Checks that no other tenant receives the mail of the domain. No tenant receives mail at the sandbox domain as a whole, since no
 * tenant can verify it.
 * @throws AppError domain_in_use
 */
export async function requireNoOtherReceiver(
  tx: Tx,
  { tenantId, domain }: OwnedDomain,
  { what, now, param = 'address' }: Wish,
): Promise<void> {
  const receiver = await findReceiver(tx, domain, now);
  if (receiver === undefined || receiver.tenantId === tenantId) return;
  throw new AppError(
    'domain_in_use',
    `The mail of ${domain} goes to another account, which verified the domain before you; a ${what} here would get no mail until that account's verification has lapsed or its domain is deleted`,
    { param },
  );
}

/**
 * Returns true when this installation receives mail for the domain, which is in lower case and A-labels: its hostname, the
 * sandbox, the domain of return paths, the domain of a tenant, and the return path of one.
 */
export async function receivesFor(
  { config, db, clock }: Pick<PartApp, 'config' | 'db' | 'clock'>,
  domain: string,
): Promise<boolean> {
  const own = [config.hostname.toLowerCase(), sandboxDomain(config), bounceDomain(config)];
  if (own.includes(domain)) return true;
  const receiver = await findReceiver(db.read, domain, clock.now());
  return receiver !== undefined || (await isReturnPathHost(db.read, domain));
}
