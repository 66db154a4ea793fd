/** Describes what DNS says of a domain, and what sessions with its hosts must prove. */
import type { App } from '../../app.ts';
import { type HostTls, OPPORTUNISTIC } from '../../mail/tls-policy/host-tls.ts';
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

/** Returns what sessions with the hosts must prove, by the policies of the domain or the operator's word. */
export function describePolicy({ hosts, relay }: HostsRoute): string[] {
  if (relay)
    return [
      `TLS with a certificate that is valid for ${relay.tlsName ?? 'the host'} is required, as for every relay`,
    ];
  const sentences = hosts.map(({ name, tls = OPPORTUNISTIC }) => ({ name, text: sentenceOf(tls) }));
  const [first] = sentences;
  if (sentences.every(({ text }) => text === first?.text)) return [cleanForeignText(first?.text ?? '')];
  return sentences.map(({ name, text }) => cleanForeignText(`${name}: ${text}`));
}

function sentenceOf(tls: HostTls): string {
  switch (tls.kind) {
    case 'none':
      return 'TLS is not used, as the outbound route says';
    case 'opportunistic':
      return 'TLS is used where a server offers it, and its certificate need not be valid';
    case 'required':
      return 'TLS is required, and the certificate need not be valid';
    case 'verified':
      return 'TLS with a certificate that is valid for the host is required';
    case 'dane':
      return 'TLS with a certificate that the TLSA records of the host name is required (DANE)';
    case 'refused':
      return `no mail is sent there, because ${tls.reason}`;
  }
}
