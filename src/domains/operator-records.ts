/**
 * Lists the records that the operator publishes in the zone of `<hostname>`, once for the installation and once for
 * each domain. Without them the records of the domains lead nowhere, and no signature can be checked.
 */
import { isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { dkimKeyRecord } from '../mail/dkim/key.ts';
import { plainAddress } from '../system/address-block.ts';
import type { DnsLookups } from '../system/dns.ts';
import { type InstallationKey, installationKeyOf } from './installation/key.ts';
import { sandboxDomain } from './name.ts';
import { comparePublished, type Published, type RecordValue } from './published.ts';
import { bounceDomain, dkimName, dkimTarget, spfName, trackingTarget } from './records.ts';
import { ownReportAddress } from './report-address.ts';
import { type KeyPage, listPublishedKeys, type PublishedKey } from './spool-store.ts';

/** A record to publish, with its purpose as text for people. */
export type OperatorRecord = RecordValue & {
  purpose: string;
  /** True for a record that nothing needs, such as one that only makes sense in a zone with DNSSEC. A wrong one does harm. */
  isOptional?: true;
  /** TTL in seconds, where it is not the usual one. */
  ttlSeconds?: number;
};

/** `published` says what DNS has, when that was asked for. */
export type OperatorRecords = {
  records: (OperatorRecord & { published?: Published | undefined })[];
  /** Problems that prevent a complete list, as text for people. */
  warnings: string[];
};

/** Returns records that a later feature adds to those of the domains. */
export type MoreRecords = () => Promise<readonly OperatorRecord[]>;

/**
 * Returns the records to publish, with the addresses that DNS has for the host names, and then `more`. The keys of the domains of
 * tenants are among them unless `withKeys` is false. The built-in name server answers with this list.
 */
export async function listOperatorRecords(
  app: Pick<App, 'config' | 'dns' | 'db' | 'clock' | 'sealer'>,
  more: readonly MoreRecords[],
  { withKeys = true }: { withKeys?: boolean } = {},
): Promise<OperatorRecords> {
  const { config } = app;
  const [addresses, keys, own, others] = await Promise.all([
    findAddresses(app.dns.fresh, config),
    withKeys ? listAllKeyRecords(app) : [],
    installationKeyOf(app),
    Promise.all(more.map((list) => list())),
  ]);
  return {
    records: [
      ...operatorRecords(config, addresses, sourceAddresses(config)),
      ...keys,
      ownKeyRecord(own),
      ...others.flat().filter((record) => isPublishable(config, record)),
    ],
    warnings: addresses.length > 0 ? [] : [unknownAddresses(config.hostname)],
  };
}

type KeyApp = Pick<App, 'config' | 'db'>;
/** The records of the keys of some domains. `next` begins the next part; undefined at the end. */
export type KeyRecords = { records: OperatorRecord[]; next: KeyPage['next'] };

/** Maximum number of domains whose keys are read together. Reading those of all domains in one go would stop the main thread. */
const MAX_DOMAINS_PER_PART = 500;

/** Returns the records of the keys of some domains. `after` is the `next` of the part before; empty for the first one. */
export async function listKeyRecords(
  { config, db }: KeyApp,
  after: PublishedKey['id'] | '',
): Promise<KeyRecords> {
  const { keys, next } = await db.query(listPublishedKeys, { after, limit: MAX_DOMAINS_PER_PART });
  return { records: keys.map((key) => keyRecord(config, key)), next };
}

/** Returns the records of all keys, those of one domain together. */
async function listAllKeyRecords(app: KeyApp): Promise<OperatorRecord[]> {
  const records: OperatorRecord[] = [];
  for (let after: KeyRecords['next'] | '' = ''; after !== undefined; ) {
    const part: KeyRecords = await listKeyRecords(app, after);
    records.push(...part.records);
    after = part.next;
  }
  return records.toSorted((one, other) => compareText(one.purpose, other.purpose));
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** TLSA counts in a signed zone alone (RFC 6698 section 4.1), and the zone of the built-in name server is not signed. */
function isPublishable({ nameserver }: Pick<Config, 'nameserver'>, { type }: OperatorRecord): boolean {
  return type !== 'TLSA' || !nameserver.enabled;
}

/** Returns the public addresses of the sources of outgoing mail. */
function sourceAddresses({ outbound }: Pick<Config, 'outbound'>): string[] {
  return outbound.sources
    .flatMap(({ addresses }) => addresses.map(plainAddress))
    .filter((address) => ipaddr.parse(address).range() === 'unicast');
}

/**
 * Returns the records to publish. `sources` are further addresses that mail leaves from. Without addresses there is no SPF
 * record, because one that allows no address would make receivers refuse our mail.
 */
export function operatorRecords(
  config: Pick<Config, 'hostname'>,
  addresses: readonly string[],
  sources: readonly string[] = [],
): OperatorRecord[] {
  const host = config.hostname.toLowerCase();
  return [
    ...addresses.map(
      (address): OperatorRecord => ({
        type: isIPv6(address) ? 'AAAA' : 'A',
        name: host,
        value: address,
        purpose: 'this machine; its reverse DNS (PTR) must lead back to the same name',
      }),
    ),
    ...(addresses.length > 0 ? spfRecords(config, [...new Set([...addresses, ...sources])]) : []),
    {
      type: 'MX',
      name: bounceDomain(config),
      value: `10 ${host}`,
      purpose: 'bounces come back to this machine; the return paths of domains point to this name',
    },
    {
      type: 'MX',
      name: sandboxDomain(config),
      value: `10 ${host}`,
      purpose: 'mail to inbound routes at the sandbox domain, which needs no domain of a tenant',
    },
    {
      type: 'CNAME',
      name: trackingTarget(config),
      value: host,
      purpose: 'tracking hosts of domains lead here',
    },
    {
      type: 'TXT',
      // Domains may have their reports sent here, whatever their names are (RFC 9990 section 4).
      name: `*._report._dmarc.${host}`,
      value: 'v=DMARC1',
      purpose: 'the DMARC records of domains may name report addresses at this machine',
    },
    ...[host, bounceDomain(config)].map(
      (name): OperatorRecord => ({
        type: 'TXT',
        // Each domain that receives mail may ask for reports about it (RFC 8460 section 3).
        name: `_smtp._tls.${name}`,
        value: `v=TLSRPTv1; rua=mailto:${ownReportAddress(config)}`,
        purpose: `other servers report TLS problems with mail to ${name}; the log shows them`,
      }),
    ),
  ];
}

function spfRecords(config: Pick<Config, 'hostname'>, addresses: readonly string[]): OperatorRecord[] {
  const host = config.hostname.toLowerCase();
  // Networks are written as `ip4` and `ip6` mechanisms (RFC 7208 section 5.6).
  const networks = addresses.map((address) => `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`).join(' ');
  const ours = `v=spf1 include:${spfName(config)} -all`;
  return [
    {
      type: 'TXT',
      name: spfName(config),
      value: `v=spf1 ${networks} -all`,
      purpose: 'the SPF records of all domains include this',
    },
    { type: 'TXT', name: bounceDomain(config), value: ours, purpose: 'SPF of the return path' },
    // Receivers check the name in EHLO too, and only that name when the return path is empty (RFC 7208 section 2.3).
    { type: 'TXT', name: host, value: ours, purpose: 'SPF of the name in EHLO' },
  ];
}

const NOTES: Readonly<Record<PublishedKey['state'], string>> = {
  unused: '',
  waiting: ' (the next one; signs once it is found in DNS)',
  signing: '',
  retired: ' (the one before; needed until the mail signed with it has ended)',
};

/** Returns the record of a DKIM key (RFC 6376 section 3.6.1). */
export function keyRecord(config: Pick<Config, 'hostname'>, key: PublishedKey): OperatorRecord {
  const note = key.deletedAt === null ? NOTES[key.state] : ' (deleted; needed until its mail has ended)';
  return {
    type: 'TXT',
    name: dkimTarget(config, key),
    value: dkimKeyRecord(key.publicKey, key.algorithm),
    purpose: `DKIM key of ${key.name}${note}`,
  };
}

/** Returns the record of the key of the installation itself. */
function ownKeyRecord({ selector, domain, publicKey }: InstallationKey): OperatorRecord {
  return {
    type: 'TXT',
    name: dkimName({ name: domain, selector }),
    value: dkimKeyRecord(publicKey),
    purpose: 'DKIM key of the installation, for forwarded mail (ARC) and reports',
  };
}

/** Returns the addresses of this machine: those of the configuration, or else those that DNS has for the hostname. */
export async function findAddresses(
  dns: Pick<DnsLookups, 'a' | 'aaaa'>,
  { hostname, domains }: Pick<Config, 'hostname' | 'domains'>,
): Promise<readonly string[]> {
  if (domains.addresses.length > 0) return domains.addresses;
  const answers = await Promise.all([dns.a(hostname), dns.aaaa(hostname)]);
  return answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
}

function unknownAddresses(hostname: string): string {
  return `DNS has no addresses for ${hostname}, so its A, AAAA and SPF records are missing here: set domains.addresses (POSTRIDER_DOMAINS_ADDRESSES)`;
}

/** Maximum time for which DNS is asked about the records. The command line waits for 30 seconds. */
const CHECK_TIMEOUT_MS = 20_000;

/** With `keys=false`, the keys of the domains of tenants are left out, which may be a hundred thousand. */
const recordsQuery = Type.Object({
  check: Type.Optional(Type.Boolean()),
  keys: Type.Optional(Type.Boolean()),
});

/** Registers `GET /dns-records` on the server of the control socket. The answer ends with the records of `moreRecords`. */
export function registerDomainAdmin(
  server: FastifyInstance,
  app: App & { moreRecords: readonly MoreRecords[] },
): void {
  server.get<{ Querystring: Static<typeof recordsQuery> }>(
    '/dns-records',
    { schema: { querystring: recordsQuery } },
    async ({ query: { check, keys: withKeys = true } }) => {
      const listed = await listOperatorRecords(app, app.moreRecords, { withKeys });
      return check ? withPublished(app, listed) : listed;
    },
  );
}

async function withPublished(
  { clock, dns }: Pick<App, 'clock' | 'dns'>,
  { records, warnings }: OperatorRecords,
): Promise<OperatorRecords> {
  const limit = { clock, timeoutMs: CHECK_TIMEOUT_MS };
  const published = await comparePublished(dns.fresh, records, limit);
  return { records: records.map((record, index) => ({ ...record, published: published[index] })), warnings };
}
