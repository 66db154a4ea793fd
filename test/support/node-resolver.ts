/** Answers the lookups of mailauth from a `Dns`, in the way of `node:dns`, which the library expects. */
import type { Dns, DnsAnswer } from '../../src/system/dns.ts';

/** Resolves to the records of a name, or rejects with an error that has a code of `node:dns`. */
export type NodeResolver = (name: string, type: string) => Promise<string[][] | string[]>;

/** Returns a resolver that answers from the names of `dns`. */
export function nodeResolver(dns: Dns): NodeResolver {
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
