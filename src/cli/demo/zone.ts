/** An in-memory DNS for the demo. Records that a domain's owner would publish are available at once. */
import type { Dns, DnsAnswer, DnsLookups, SrvRecord } from '../../system/dns.ts';

export type ZoneRecord =
  | { type: 'A' | 'TXT' | 'CNAME'; name: string; value: string }
  | { type: 'MX'; name: string; exchange: string; preference: number };

type RecordOf<T extends ZoneRecord['type']> = Extract<ZoneRecord, { type: T }>;

export type Zone = Dns & { publish(records: readonly ZoneRecord[]): void };

/** Maximum number of aliases that are followed. The demo needs one. */
const MAX_ALIAS_CHAIN = 8;
const TTL_MS = 60_000;

/** Returns a zone without records. */
export function createZone(): Zone {
  const records: ZoneRecord[] = [];

  function at(name: string): ZoneRecord[] {
    return records.filter((record) => canonical(record.name) === canonical(name));
  }

  function isRecord<T extends ZoneRecord['type']>(type: T) {
    return (record: ZoneRecord): record is ZoneRecord & { type: T } => record.type === type;
  }

  /**
   * Answers like a resolver: it follows aliases (RFC 1034 section 3.6.2), and a name with other records only is
   * NODATA.
   */
  async function ask<Value>(
    name: string,
    pick: (here: readonly ZoneRecord[]) => Value[],
    follow = true,
  ): Promise<DnsAnswer<Value>> {
    let current = name;
    for (let step = 0; step < MAX_ALIAS_CHAIN; step += 1) {
      const here = at(current);
      const values = pick(here);
      if (values.length > 0) return { kind: 'found', records: values, ttlMs: TTL_MS };
      const alias = follow ? here.find(isRecord('CNAME')) : undefined;
      if (!alias) {
        return here.length > 0 || hasNamesBelow(current)
          ? { kind: 'no-data', ttlMs: TTL_MS }
          : { kind: 'no-name' };
      }
      current = alias.value;
    }
    return { kind: 'failed', reason: 'ESERVFAIL' };
  }

  /** Returns true when the zone has names below this one, which then exists itself (RFC 8020 section 2). */
  function hasNamesBelow(name: string): boolean {
    return records.some((record) => canonical(record.name).endsWith(`.${canonical(name)}`));
  }

  const values = (type: 'A' | 'TXT' | 'CNAME') => (here: readonly ZoneRecord[]) =>
    here.flatMap((record) => (record.type === type ? [(record as RecordOf<typeof type>).value] : []));

  const lookups: DnsLookups = {
    mx: (name) =>
      ask(name, (here) =>
        here.filter(isRecord('MX')).map(({ exchange, preference }) => ({ exchange, preference })),
      ),
    a: (name) => ask(name, values('A')),
    aaaa: (name) => ask<string>(name, () => []),
    txt: (name) => ask(name, values('TXT')),
    cname: (name) => ask(name, values('CNAME'), false),
    ptr: (name) => ask<string>(name, () => []),
    srv: (name) => ask<SrvRecord>(name, () => []),
    tlsa: (name) => ask<string>(name, () => []),
    caa: (name) => ask<string>(name, () => []),
  };
  return { ...lookups, fresh: lookups, publish: (added) => void records.push(...added) };
}

/** Returns the name in the form in which names are compared (RFC 1035 section 2.3.3). */
function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
