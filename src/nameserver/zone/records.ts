/** Lists the records of the zone of the hostname: those that `postrider domain records` prints, and what a zone needs for itself. */
import { isIPv6 } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { OperatorRecord } from '../../domains/operator-records.ts';
import { isSameOrBelow } from '../../mail/domain-names.ts';

/** A record of the zone. Names are in lower case and have no final dot; `value` is written as in OperatorRecord. */
export type ZoneRecord = Pick<OperatorRecord, 'name' | 'value'> & {
  type: Exclude<OperatorRecord['type'], 'TLSA'> | 'NS';
  ttlSeconds: number;
};

type ZoneConfig = Pick<Config, 'hostname' | 'domains' | 'nameserver' | 'http' | 'https' | 'links'>;

/** TTL of the records. A change of keys takes as long as this to be seen everywhere. */
const TTL_SECONDS = 3_600;

/** Returns the name of the zone. */
export function zoneName({ hostname }: Pick<Config, 'hostname'>): string {
  return hostname.toLowerCase();
}

/** Returns the names of the name servers. */
export function serverNames(config: Pick<Config, 'hostname' | 'nameserver'>): string[] {
  const { names } = config.nameserver;
  return names.length > 0 ? names.map((name) => name.toLowerCase()) : [`ns.${zoneName(config)}`];
}

/** Returns the records that the parent zone needs: the name servers, and the addresses of those below the zone. */
export function delegationRecords(config: ZoneConfig): (Omit<OperatorRecord, 'type'> & {
  type: OperatorRecord['type'] | 'NS';
})[] {
  const zone = zoneName(config);
  const names = serverNames(config);
  return [
    ...names.map((value) => ({ type: 'NS' as const, name: zone, value, purpose: 'delegates the zone' })),
    ...names
      .filter((name) => isSameOrBelow(name, zone))
      .flatMap((name) => addressRecords(config, name))
      .map((record) => ({ ...record, purpose: 'address of the name server (glue)' })),
  ];
}

/** Returns the records of the zone, but for SOA. A name that two sources have gets one set of records of each type. */
export function zoneRecords(config: ZoneConfig, printed: readonly OperatorRecord[]): ZoneRecord[] {
  const zone = zoneName(config);
  const names = serverNames(config);
  const records = [
    ...printed.flatMap(({ type, name, value, ttlSeconds }) => {
      // A zone that is not signed has no use for TLSA (RFC 6698 section 4.1).
      if (type === 'TLSA') return [];
      // A proxy that has the ports of HTTPS orders certificates with an account of its own, which CAA would refuse.
      if (type === 'CAA' && !config.https.enabled) return [];
      return [{ type, name: name.toLowerCase(), value, ttlSeconds: ttlSeconds ?? TTL_SECONDS }];
    }),
    ...names.map((value) => ({ type: 'NS' as const, name: zone, value })),
  ];
  const taken = new Set(records.map(({ name }) => name));
  const hosts = new Set([...names, ...publicHosts(config)]);
  const needed = [...hosts].filter((host) => !taken.has(host) || host === zone);
  const all = [...records, ...needed.flatMap((host) => addressRecords(config, host))];
  const unique = new Map(all.map((record) => [`${record.name} ${record.type} ${record.value}`, record]));
  return [...unique.values()]
    .filter(({ name }) => isSameOrBelow(name, zone))
    .map((record) => ({ ttlSeconds: TTL_SECONDS, ...record }));
}

/** Returns the hosts of the public URLs. Below a delegated hostname, nobody else can publish their addresses. */
function publicHosts({ http, links }: ZoneConfig): string[] {
  return [http.publicUrl, links.url].filter((url) => url !== '').map((url) => new URL(url).hostname);
}

function addressRecords({ domains }: Pick<ZoneConfig, 'domains'>, name: string) {
  return domains.addresses.map((value) => ({
    type: isIPv6(value) ? ('AAAA' as const) : ('A' as const),
    name,
    value,
  }));
}
