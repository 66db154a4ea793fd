/** The resolver mailauth asks, answered from zone text in the way of `node:dns`. */

import type { DnsAnswer } from '../../src/system/dns.ts';
import { zoneDns } from '../support/zone-dns.ts';

export type Resolver = (name: string, type: string) => Promise<string[][] | string[]>;

export function zoneResolver(zoneText: string): Resolver {
  const dns = zoneDns(zoneText);
  return async (name, type) => {
    if (type === 'TXT') return records(await dns.txt(name)).map((text) => [text]);
    if (type === 'A') return records(await dns.a(name));
    if (type === 'AAAA') return records(await dns.aaaa(name));
    if (type === 'CNAME') return records(await dns.cname(name));
    throw refusal('ENOTIMP');
  };
}

function records<T>(answer: DnsAnswer<T>): T[] {
  if (answer.kind === 'found') return answer.records;
  throw refusal({ 'no-data': 'ENODATA', 'no-name': 'ENOTFOUND', failed: 'ESERVFAIL' }[answer.kind]);
}

function refusal(code: string): Error {
  return Object.assign(new Error(code), { code });
}
