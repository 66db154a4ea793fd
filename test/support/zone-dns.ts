/**
 * A `Dns` that answers from zone text, in this process and without a socket. Tests change the text when a record is to
 * appear, and make the lookups of a name fail. Nothing is cached, so `fresh` behaves in the same way.
 */
import { type Dns, type DnsAnswer, type DnsLookups, isDnsName } from '../../src/system/dns.ts';
import {
  canonicalName,
  lookUp,
  NEGATIVE_TTL_SECONDS,
  parseZone,
  type RecordType,
  type ZoneRecord,
} from './zone.ts';

export type ZoneDns = Dns & {
  /** Replaces the whole zone. Lookups that fail because of `fail` continue to do so. */
  setZone(text: string): void;
  /**
   * Makes lookups of `name`, and of aliases that lead to it, fail with a reason such as `ESERVFAIL` until `heal` is
   * called.
   */
  fail(name: string, reason: string): void;
  heal(name: string): void;
  /** Signs zones: answers about these names, and those below them, are secure. Replaces the zones that were signed before. */
  sign(...zones: string[]): void;
};

/** Returns a DNS with the zone text. */
export function zoneDns(zoneText: string): ZoneDns {
  let zone = parseZone(zoneText);
  const failures = new Map<string, string>();
  let signed: readonly string[] = [];

  const isSigned = (name: string) =>
    signed.some((one) => canonicalName(name) === one || canonicalName(name).endsWith(`.${one}`));

  async function ask<T>(
    name: string,
    type: RecordType,
    read: (record: ZoneRecord) => T[],
  ): Promise<DnsAnswer<T>> {
    if (!isDnsName(name)) return { kind: 'failed', reason: 'not a host name' };
    const found = lookUp(zone, name, type);
    const asked = [name, ...aliasTargets(found.kind === 'loop' ? [] : found.aliases)];
    const reason = asked.map((one) => failures.get(canonicalName(one))).find((one) => one !== undefined);
    if (reason !== undefined) return { kind: 'failed', reason };
    if (found.kind === 'loop') return { kind: 'failed', reason: 'ESERVFAIL' };
    const aliasTarget = aliasTargets(found.aliases).at(-1);
    const proof = asked.every(isSigned)
      ? {
          isSecure: true as const,
          ...(aliasTarget !== undefined && { aliasTarget: canonicalName(aliasTarget) }),
        }
      : {};
    if (found.kind === 'no-name') return { kind: 'no-name', ...proof };
    if (found.kind === 'no-data')
      return { kind: 'no-data', ttlMs: leastTtlMs(found.aliases, NEGATIVE_TTL_SECONDS), ...proof };
    const ttlMs = leastTtlMs([...found.aliases, ...found.records]);
    return { kind: 'found', records: found.records.flatMap(read), ttlMs, ...proof };
  }

  const lookups: DnsLookups = {
    mx: (name) =>
      ask(name, 'MX', (record) =>
        record.type === 'MX' ? [{ exchange: record.exchange, preference: record.preference }] : [],
      ),
    a: (name) => ask(name, 'A', (record) => (record.type === 'A' ? [record.address] : [])),
    aaaa: (name) => ask(name, 'AAAA', (record) => (record.type === 'AAAA' ? [record.address] : [])),
    txt: (name) => ask(name, 'TXT', (record) => (record.type === 'TXT' ? [record.strings.join('')] : [])),
    cname: (name) => ask(name, 'CNAME', (record) => (record.type === 'CNAME' ? [record.target] : [])),
    ptr: (name) => ask(name, 'PTR', (record) => (record.type === 'PTR' ? [record.host] : [])),
    srv: (name) =>
      ask(name, 'SRV', (record) => {
        if (record.type !== 'SRV') return [];
        const { priority, weight, port, target } = record;
        return [{ priority, weight, port, target }];
      }),
    tlsa: (name) =>
      ask(name, 'TLSA', (record) =>
        record.type === 'TLSA'
          ? [`${record.usage} ${record.selector} ${record.matchingType} ${record.certificate}`]
          : [],
      ),
    caa: (name) =>
      ask(name, 'CAA', (record) =>
        record.type === 'CAA' ? [`${record.flags} ${record.tag} "${record.value}"`] : [],
      ),
  };
  return {
    ...lookups,
    fresh: lookups,
    setZone: (text) => {
      zone = parseZone(text);
    },
    fail: (name, reason) => {
      failures.set(canonicalName(name), reason);
    },
    sign: (...zones) => {
      signed = zones.map(canonicalName);
    },
    heal: (name) => {
      failures.delete(canonicalName(name));
    },
  };
}

function aliasTargets(aliases: ZoneRecord[]): string[] {
  return aliases.flatMap((alias) => (alias.type === 'CNAME' ? [alias.target] : []));
}

function leastTtlMs(records: ZoneRecord[], longestSeconds = Number.POSITIVE_INFINITY): number {
  return Math.min(longestSeconds, ...records.map((record) => record.ttlSeconds)) * 1_000;
}
