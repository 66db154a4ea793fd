/** The settings for the addresses from which mail leaves: sources, and the pools that say which mail uses which of them. */
import { isIP } from 'node:net';
import { type Static, Type } from 'typebox';
import { isHostName } from '../system/dns.ts';
import { routeDomain } from './fields.ts';

/** Maximum number of sources. Each is compared with each queue of mail. */
const MAX_SOURCES = 256;
const MAX_POOLS = 100;
/** Maximum number of octets of the user and of the password of a SOCKS5 server (RFC 1929 section 2). */
const MAX_SOCKS_LOGIN_OCTETS = 255;
/** Maximum number of names of hosts and domains that get mail over IPv4 alone. */
const MAX_IPV4_ONLY = 1_000;

const name = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' });

const configuredSource = Type.Object(
  {
    name,
    addresses: Type.Array(Type.String(), { minItems: 1, maxItems: 2 }),
    ehlo: Type.Optional(Type.String()),
    ipv6: Type.Optional(Type.Enum(['proven', 'always'])),
    socks5: Type.Optional(Type.String()),
    user: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_SOCKS_LOGIN_OCTETS })),
    passwordFile: Type.Optional(Type.String({ minLength: 1 })),
    proxyProtocol: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type ConfiguredSource = Static<typeof configuredSource>;

const configuredPool = Type.Object(
  {
    name,
    sources: Type.Array(name, { minItems: 1, maxItems: MAX_SOURCES, uniqueItems: true }),
    tenant: Type.Optional(Type.String({ pattern: '^ten_[A-Za-z0-9]+$' })),
    domain: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    kind: Type.Optional(Type.Enum(['transactional', 'broadcast'])),
  },
  { additionalProperties: false },
);
export type ConfiguredPool = Static<typeof configuredPool>;

/** Settings of the section `outbound`. */
export const sourceFields = {
  sources: Type.Array(configuredSource, {
    maxItems: MAX_SOURCES,
    default: [],
    description:
      'Addresses from which mail goes to MX hosts, such as [{ name: main, addresses: [192.0.2.1], ehlo: mx.example.com }], instead of the one that the system chooses. ' +
      'With "socks5: 203.0.113.9:1080" connections are made by that SOCKS5 server, with "proxyProtocol: 203.0.113.9:2525" by a proxy that reads the header of the PROXY protocol. docs/sources.md describes every field.',
  }),
  pools: Type.Array(configuredPool, {
    maxItems: MAX_POOLS,
    default: [],
    description:
      'Says which mail leaves from which sources, such as [{ name: bulk, sources: [main], kind: broadcast }]. A pool is for all mail, or for that of a "tenant" (its id), to a "domain", of a "kind" (transactional or broadcast), or several of these; the most specific one counts. Without pools, all mail leaves from all sources; mail that no pool is for leaves from the address that the system chooses.',
  }),
  ipv4Only: Type.Array(Type.String(), {
    maxItems: MAX_IPV4_ONLY,
    default: [],
    description:
      'Domains of recipients, and names of MX hosts or of the domains that they are in, such as google.com, that get mail over IPv4 alone.',
  }),
};

type Sourced = { sources: readonly ConfiguredSource[]; pools: readonly ConfiguredPool[] };

/** Returns what is wrong with the sources and the pools, each as a setting and a sentence. */
export function* findSourceFaults({
  sources,
  pools,
}: Sourced): Iterable<{ setting: 'sources' | 'pools'; says: string }> {
  const names = new Set<string>();
  const owners = new Map<string, string>();
  for (const source of sources) {
    const says = names.has(source.name) ? 'another source has its name' : findSourceFault(source, owners);
    if (says !== undefined) yield { setting: 'sources', says: `"${source.name}": ${says}` };
    names.add(source.name);
  }
  const seen = new Map<string, string>();
  for (const pool of pools) {
    const mail = `mail of ${pool.tenant ?? 'all'} to ${routeDomain(pool.domain ?? '')} of ${pool.kind ?? 'all'}`;
    const other = seen.get(pool.name) ?? seen.get(mail);
    const says =
      other === undefined
        ? findPoolFault(pool, names)
        : `the pool "${other}" has its name or is for the same mail`;
    if (says !== undefined) yield { setting: 'pools', says: `"${pool.name}": ${says}` };
    seen.set(pool.name, pool.name).set(mail, pool.name);
  }
}

/** `owners` has the name of the source of each address so far, by the proxy and the address. */
function findSourceFault(source: ConfiguredSource, owners: Map<string, string>): string | undefined {
  const { addresses, ehlo, socks5, proxyProtocol, user, passwordFile } = source;
  const wrong = addresses.find((address) => isIP(address) === 0 || address.includes('%'));
  if (wrong !== undefined) return `"${wrong}" is not an IP address`;
  if (addresses.length > 1 && isIP(addresses[0] ?? '') === isIP(addresses[1] ?? ''))
    return 'it has two addresses of the same family; each of them needs a source of its own';
  if (ehlo !== undefined && !isHostName(ehlo)) return `"${ehlo}" is not a host name`;
  if (socks5 !== undefined && proxyProtocol !== undefined)
    return 'it has "socks5" or "proxyProtocol", not both';
  const proxy = socks5 ?? proxyProtocol;
  if (proxy !== undefined && parseEndpoint(proxy) === undefined)
    return `"${proxy}" is not an address with a port, such as 192.0.2.1:1080 or [2001:db8::1]:1080`;
  if (socks5 === undefined && (user !== undefined || passwordFile !== undefined))
    return 'a user and a password need "socks5"';
  if ((user === undefined) !== (passwordFile === undefined))
    return 'a user needs a password, and a password a user';
  if (user !== undefined && Buffer.byteLength(user) > MAX_SOCKS_LOGIN_OCTETS) return 'the user is too long';
  return findOtherOwner(
    source.name,
    addresses.map((address) => `${proxy ?? ''} ${address}`),
    owners,
  );
}

function findOtherOwner(source: string, origins: readonly string[], owners: Map<string, string>) {
  for (const origin of origins) {
    const other = owners.get(origin);
    if (other !== undefined) return `the source "${other}" has the same address`;
    owners.set(origin, source);
  }
  return undefined;
}

function findPoolFault({ sources, domain }: ConfiguredPool, names: ReadonlySet<string>): string | undefined {
  const unknown = sources.find((source) => !names.has(source));
  if (unknown !== undefined) return `there is no source "${unknown}"`;
  if (domain !== undefined && !isHostName(routeDomain(domain))) return `"${domain}" is not a domain`;
  return undefined;
}

/** Returns the address and the port of a proxy, such as `192.0.2.1:1080` or `[2001:db8::1]:1080`. */
export function parseEndpoint(text: string): { address: string; port: number } | undefined {
  const [, bracketed, bare, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? bare ?? '';
  const port = Number(digits);
  if (isIP(address) !== (bracketed === undefined ? 4 : 6)) return undefined;
  return port >= 1 && port <= 65_535 ? { address, port } : undefined;
}
