/**
 * Creates a tenant that can send real mail: with a live key, and a domain whose records are in the test's DNS and
 * verified by the daemon.
 */
import type { DaemonProcess } from './daemon.ts';
import type { DnsServer } from './dns-server.ts';

export type LiveSender = {
  tenantId: string;
  /** Live key with full access. */
  key: string;
  domainId: string;
  /** Zone text of the domain's records alone. */
  zone: string;
};

type ShownRecord = { type: string; name: string; value: string };
type Domain = { id: string; status: string; records: (ShownRecord & { alternative?: ShownRecord })[] };

/**
 * Creates the tenant, its key and its domain, publishes the records in addition to `otherZone`, and verifies the domain.
 *
 * @throws Error with the response of the step that failed
 */
export async function createLiveSender(
  daemon: DaemonProcess,
  dns: DnsServer,
  options: { domain: string; otherZone: string; tenant?: string },
): Promise<LiveSender> {
  const name = options.tenant ?? `sender of ${options.domain}`;
  const tenant = await daemon.cli(['tenant', 'create', name, '--plan', 'unlimited']);
  const tenantId = text(tenant, 'id');
  const made = await daemon.cli([
    ...['key', 'create', '--tenant', tenantId, '--mode', 'live'],
    ...['--permission', 'full_access', '--name', 'test'],
  ]);
  const key = text(made, 'token');
  const created = await daemon.request('POST', '/v1/domains', key, { name: options.domain });
  if (created.status !== 201) throw new Error(`POST /v1/domains: ${JSON.stringify(created.body)}`);
  const domain = created.body as Domain;
  const zone = domain.records.map((record) => zoneLine(record.alternative ?? record)).join('\n');
  dns.setZone(`${options.otherZone}\n${zone}`);
  const verified = await daemon.request('POST', `/v1/domains/${domain.id}/verify`, key);
  if ((verified.body as Domain).status !== 'verified') {
    throw new Error(`${options.domain} was not verified: ${JSON.stringify(verified.body)}`);
  }
  return { tenantId, key, domainId: domain.id, zone };
}

function zoneLine({ name, type, value }: ShownRecord): string {
  const quoted = `"${value.replace(/["\\]/g, '\\$&')}"`;
  return `${name} ${type} ${type === 'TXT' ? quoted : value}`;
}

function text(value: unknown, field: string): string {
  const found = (value as Record<string, unknown> | null)?.[field];
  if (typeof found !== 'string') throw new Error(`no ${field} in ${JSON.stringify(value)}`);
  return found;
}
