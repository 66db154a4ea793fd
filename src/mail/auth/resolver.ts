/**
 * Answers the lookups of mailauth, which expects a resolver with the interface of `node:dns`. The lookups of one message are limited in
 * number and in time, so no message can keep a thread or a resolver busy. A lookup beyond a limit has failed, and whatever depends on it
 * becomes `temperror`.
 */
import type { DNSResolver } from 'mailauth';
import type { Clock } from '../../system/clock.ts';
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
    const look = LOOKUPS.get(type);
    if (!look) throw refusal('ENOTIMP');
    return await look(dns, name);
  };
}

/** The types of the library do not name these records, although its SPF reads them. */
type Lookup = (dns: DnsLookups, name: string) => Promise<string[] | string[][]>;

const LOOKUPS: ReadonlyMap<string, Lookup> = new Map<string, Lookup>([
  ['TXT', async (dns, name) => found(await dns.txt(name)).map((text) => [text])],
  ['A', async (dns, name) => found(await dns.a(name))],
  ['AAAA', async (dns, name) => found(await dns.aaaa(name))],
  ['MX', async (dns, name) => mxRecords(found(await dns.mx(name)))],
  ['CNAME', async (dns, name) => found(await dns.cname(name))],
  ['PTR', async (dns, name) => found(await dns.ptr(name))],
]);

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

/**
 * Maximum number of lookups for one message. SPF of the sender may need 111 (RFC 7208 section 4.6.4), while real messages
 * need about ten.
 */
const MAX_LOOKUPS = 200;
/** Time for all lookups of one message, in milliseconds. Clients wait for ten minutes (RFC 5321 section 4.5.3.2.6). */
const LOOKUPS_TIMEOUT_MS = 8_000;

type MessageLookups = DnsLookups & {
  /** Number of lookups that were asked for. */
  readonly count: number;
  /** Ends the time of the lookups. Each one that is still under way has failed. */
  end(): void;
};

/** Returns lookups for one message. Their time begins now. */
export function createMessageLookups(dns: DnsLookups, clock: Clock): MessageLookups {
  let count = 0;
  const over = Promise.withResolvers<{ kind: 'failed'; reason: string }>();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    timer.cancel();
    over.resolve({ kind: 'failed', reason: 'ETIMEOUT' });
  };
  const timer = clock.after(LOOKUPS_TIMEOUT_MS, end);
  const limited =
    <T>(ask: (name: string) => Promise<DnsAnswer<T>>) =>
    async (name: string): Promise<DnsAnswer<T>> => {
      count += 1;
      if (count > MAX_LOOKUPS) return { kind: 'failed', reason: 'too many lookups' };
      return isOver ? over.promise : Promise.race([ask(name), over.promise]);
    };
  return {
    get count() {
      return count;
    },
    end,
    mx: limited((name) => dns.mx(name)),
    a: limited((name) => dns.a(name)),
    aaaa: limited((name) => dns.aaaa(name)),
    txt: limited((name) => dns.txt(name)),
    cname: limited((name) => dns.cname(name)),
    ptr: limited((name) => dns.ptr(name)),
    srv: limited((name) => dns.srv(name)),
    tlsa: limited((name) => dns.tlsa(name)),
    caa: limited((name) => dns.caa(name)),
  };
}
