/** A source is an address from which mail leaves, or one of each family, with the name that it gives in EHLO. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { MxPlan } from '../../mail/mx.ts';
import type { ProxyEndpoint } from '../../system/dial/source.ts';

export type Hosts = Extract<MxPlan, { kind: 'hosts' }>['hosts'];

/** The way to a source: an address of this machine, or a proxy that has it. */
type Way =
  | { kind: 'address' }
  /** `login` is null when the server knows this machine by its address. */
  | { kind: 'socks5'; proxy: ProxyEndpoint; login: { user: string; passwordFile: string } | null }
  | { kind: 'proxy-protocol'; proxy: ProxyEndpoint };

export type Source = {
  name: string;
  /** IP literals, at most one of each family. */
  addresses: readonly string[];
  /** Name in EHLO. The PTR records of the addresses lead to it. */
  ehlo: string;
  /** Says when its IPv6 address is used: once its PTR record and SPF are proven, or always. */
  ipv6: 'proven' | 'always';
  way: Way;
};

/** A pool says which mail leaves from which sources. Null stands for all tenants, domains or kinds. */
export type Pool = {
  name: string;
  sources: readonly Source[];
  tenantId: string | null;
  /** Domain of the recipients, in lower case. */
  domain: string | null;
  kind: 'transactional' | 'broadcast' | null;
};

/** Number of characters that tell the settings of a source apart. */
const FINGERPRINT_CHARACTERS = 8;

/** Returns a text that changes with the settings of a source, so that nothing that was learned about others counts. */
export function fingerprintOf(source: Source): string {
  return createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, FINGERPRINT_CHARACTERS);
}

/** Stands between the hosts and the source in the key of a site. */
const FROM = ' from ';

/**
 * Returns the key of the site that hosts are for one source. It changes with the settings of the source, so that mail then takes new
 * connections.
 */
export function siteFrom(hosts: string, source: Source): string {
  return `${hosts}${FROM}${source.name} ${fingerprintOf(source)}`;
}

/** Returns the hosts with those of their addresses to which mail can leave from one of the addresses. */
export function reachableHosts(hosts: Hosts, addresses: readonly string[]): Hosts {
  const families = new Set(addresses.map((address) => isIP(address)));
  return hosts.flatMap((host) => {
    const reachable = host.addresses.filter((address) => families.has(isIP(address)));
    return reachable.length === 0 ? [] : [{ ...host, addresses: reachable }];
  });
}
