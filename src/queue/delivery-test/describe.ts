/** Describes what DNS says of a domain, and which policies hold for sessions with its hosts. */
import type { App } from '../../app.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import type { Route } from '../site/route.ts';

type Looking = Pick<App, 'dns'>;
type HostsRoute = Extract<Route, { kind: 'hosts' }>;

/** Returns the MX records of the domain, and the addresses that are tried, in their order. */
export async function describeDns(
  { dns }: Looking,
  domain: string,
  { hosts, relay }: HostsRoute,
): Promise<string[]> {
  const addresses = hosts.map(({ name, addresses }) => `${name} has ${addresses.join(', ')}`);
  if (relay) return addresses;
  const found = await dns.mx(domain);
  if (found.kind !== 'found') return [`${domain} has no MX records, so it is its own host`, ...addresses];
  const records = found.records.toSorted((a, b) => a.preference - b.preference);
  const text = records.map(({ preference, exchange }) => `${preference} ${exchange}`).join(', ');
  return [cleanForeignText(`${domain} has MX ${text}`), ...addresses];
}

/**
 * Returns the policies. What a domain has published and this version does not obey is named, because other senders may refuse a server
 * that takes mail from here.
 */
export async function describePolicy(
  { dns }: Looking,
  domain: string,
  { hosts, relay }: HostsRoute,
): Promise<string[]> {
  if (relay)
    return [
      `TLS with a certificate that is valid for ${relay.tlsName ?? 'the host'} is required, as for every relay`,
    ];
  const tls = 'TLS is used where a server offers it, and its certificate need not be valid';
  const sts = await dns.txt(`_mta-sts.${domain}`);
  const hasSts = sts.kind === 'found' && sts.records.some((text) => /^v=STSv1;/.test(text));
  const published = await Promise.all(
    hosts.map(async ({ name }) => ({ name, answer: await dns.tlsa(`_25._tcp.${name}`) })),
  );
  const dane = published.filter(({ answer }) => answer.kind === 'found').map(({ name }) => name);
  return [
    tls,
    ...(hasSts ? [`${domain} has published a policy of MTA-STS, which is not obeyed yet`] : []),
    ...(dane.length > 0 ? [`${dane.join(', ')} has TLSA records (DANE), which are not obeyed yet`] : []),
  ];
}
