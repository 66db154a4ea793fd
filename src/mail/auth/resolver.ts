/** Answers the lookups of mailauth, which expects a resolver with the interface of `node:dns`. */
import type { DNSResolver } from 'mailauth';
import { type DnsAnswer, type DnsLookups, isDnsName, type MxRecord } from '../../system/dns.ts';

/**
 * Returns a resolver that asks `dns`. A name that does not pass `canExist` does not exist: `ENOTFOUND`, without a question. Macros of SPF make
 * names that no host has, which are looked up like others (RFC 7208 sections 5.7 and 7.3).
 */
export function createResolver(
  dns: DnsLookups,
  canExist: (name: string) => boolean = isDnsName,
): DNSResolver {
  return async (name, type) => {
    if (!canExist(name)) throw refusal('ENOTFOUND');
    switch (type) {
      case 'TXT':
        return found(await dns.txt(name)).map((text) => [text]);
      case 'A':
        return found(await dns.a(name));
      case 'AAAA':
        return found(await dns.aaaa(name));
      case 'MX':
        return mxRecords(found(await dns.mx(name)));
      case 'CNAME':
        return found(await dns.cname(name));
      case 'PTR':
        return found(await dns.ptr(name));
      default:
        throw refusal('ENOTIMP');
    }
  };
}

/** The types of the library do not name these records, although its SPF reads them. */
function mxRecords(records: readonly MxRecord[]): string[] {
  const nodeRecords: unknown[] = records.map(({ exchange, preference }) => ({
    exchange,
    priority: preference,
  }));
  return nodeRecords as string[];
}

function found<T>(answer: DnsAnswer<T>): T[] {
  switch (answer.kind) {
    case 'found':
      return answer.records;
    case 'no-data':
      throw refusal('ENODATA');
    case 'no-name':
      throw refusal('ENOTFOUND');
    case 'failed':
      throw refusal(answer.reason === 'ETIMEOUT' ? 'ETIMEOUT' : 'ESERVFAIL');
  }
}

/**
 * Returns an error as `node:dns` gives it. It has no stack: many lookups of a message find nothing, and capturing the stack costs
 * more than the rest of such a lookup.
 */
function refusal(code: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return Object.assign(new Error(code), { code });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
