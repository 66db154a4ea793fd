/**
 * Makes the tenant, the domain, a live and a test key, and the mailbox. Each step looks first whether it was done. A secret that an
 * earlier run made and could not show any more is made again.
 */
import { findingsOf } from '../../doctor/check.ts';
import type { OperatorDomain } from '../../domains/admin-api.ts';
import type { OperatorMailbox } from '../../mailboxes/admin-api.ts';
import type { showKey, showListedKey, showTenant } from '../../tenants/admin-schemas.ts';
import type { ControlClient } from '../control-client.ts';
import type { Answers } from './answers.ts';
import type { Report } from './report.ts';
import type { SetupLog } from './setup-log.ts';

const { ok, warn } = findingsOf('accounts');

type Tenant = ReturnType<typeof showTenant>;
type Key = ReturnType<typeof showKey>;
type ListedKey = ReturnType<typeof showListedKey>;
type Mode = Key['mode'];

/** The tenant of a first start, too (first-start.ts). */
const TENANT = 'default';
const MODES = ['live', 'test'] as const satisfies readonly Mode[];

export type Accounts = {
  tenantId: string;
  domain: OperatorDomain;
  /** True when this run has added the domain, so that its records cannot be published yet. */
  isNewDomain: boolean;
  /** Tokens of the keys that this run has made. */
  tokens: Partial<Record<Mode, string>>;
};

/**
 * The domain, keys and mailbox that exist at the end. The mailbox is null while the domain is not verified, and its password is null unless this run has made
 * it.
 */
export type Made = Accounts & { mailbox: { address: string; password: string | null } | null };

type Making = { control: Pick<ControlClient, 'request'>; log: SetupLog; report: Report };

/** Returns what there is now. Each finding and each secret is shown as soon as it is made. */
export async function makeAccounts(
  making: Making,
  { domain: name }: Pick<Answers, 'domain'>,
): Promise<Accounts> {
  const { control, report } = making;
  const existing = await findDomain(control, name);
  const tenantId = existing?.tenantId ?? (await makeTenant(making)).id;
  const domain =
    existing ??
    (await control.request<OperatorDomain>('POST', '/domains', {
      name,
      productType: 'both',
      tenant: tenantId,
    }));
  report.show([ok(`domain ${name}`, existing ? 'it is there' : 'added')]);
  const tokens: Accounts['tokens'] = {};
  for (const mode of MODES) {
    const token = await makeKey(making, tenantId, mode);
    if (token !== undefined) tokens[mode] = token;
  }
  return { tenantId, domain, isNewDomain: !existing, tokens };
}

async function findDomain(control: Making['control'], name: string): Promise<OperatorDomain | undefined> {
  const [newest] = await control.request<OperatorDomain[]>(
    'GET',
    `/domains?name=${encodeURIComponent(name)}`,
  );
  return newest;
}

/** Returns the tenant `default`, or the only one there is. */
async function makeTenant({ control, report }: Making): Promise<Tenant> {
  const tenants = await control.request<Tenant[]>('GET', '/tenants');
  const found =
    tenants.find(({ name }) => name === TENANT) ?? (tenants.length === 1 ? tenants[0] : undefined);
  const tenant =
    found ?? (await control.request<Tenant>('POST', '/tenants', { name: TENANT, plan: 'unlimited' }));
  report.show([ok(`tenant ${tenant.name}`, found ? 'it is there' : 'created')]);
  return tenant;
}

type WithPassword = OperatorMailbox & { password: string | null };

/** Makes the mailbox, which needs a verified domain. Returns its password, if this run has made one. */
export async function makeMailbox(
  { control, log, report }: Making,
  address: string,
  { productType, tenantId }: Pick<OperatorDomain, 'productType' | 'tenantId'>,
): Promise<string | null> {
  const subject = `mailbox ${address}`;
  if (productType === 'api') {
    const advice = 'change its productType to "both" (PATCH /v1/domains/{id}), and run this again';
    report.show([warn(subject, 'the domain is for programs alone', advice)]);
    return null;
  }
  const { mailboxes } = await control.request<{ mailboxes: OperatorMailbox[] }>(
    'GET',
    `/mailboxes?domain=${encodeURIComponent(domainOf(address))}`,
  );
  const found = mailboxes.find((one) => one.address.toLowerCase() === address.toLowerCase());
  // A mailbox that somebody else made keeps its password.
  if (found && (log.has('shown', found.id) || !log.has('begun', subject))) {
    report.show([ok(subject, 'it is there')]);
    return null;
  }
  log.mark('begun', subject);
  const made = found
    ? await control.request<WithPassword>('PATCH', `/mailboxes/${found.id}`, { newPassword: true })
    : await control.request<WithPassword>('POST', '/mailboxes', { address, tenant: tenantId });
  report.show([ok(subject, 'created')]);
  report.showSecret(`      its password, shown only once: ${made.password}`, made.id);
  return made.password;
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Returns the token, if this run has made the key. */
async function makeKey(
  { control, log, report }: Making,
  tenant: string,
  mode: Mode,
): Promise<string | undefined> {
  const name = `setup ${mode}`;
  const keys = await control.request<ListedKey[]>('GET', `/keys?tenant=${tenant}`);
  const found = keys.filter((key) => key.name === name && key.revokedAt === null);
  const subject = `${mode} key`;
  if (found.some(({ id }) => log.has('shown', id))) {
    report.show([ok(subject, 'it is there')]);
    return undefined;
  }
  for (const { id } of found) await control.request('DELETE', `/keys/${id}`);
  const body = { tenant, name, mode, permission: 'full_access' };
  const made = await control.request<Key & { token: string }>('POST', '/keys', body);
  report.show([ok(subject, 'created')]);
  report.showSecret(`      its token, shown only once: ${made.token}`, made.id);
  return made.token;
}
