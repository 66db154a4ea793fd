/**
 * DNS as a value. An answer says which of four things happened, because they mean different things to mail:
 * only `no-name` (NXDOMAIN) is a verdict on an address; `failed` is never one (engine.md 1, security.md finding 9).
 * A stub resolver of our own (`dns/`), because Node's gives no TTLs, and cuts a name off at a NUL.
 */
import type { Clock } from './clock.ts';
import { type Finding, resolve } from './dns/answer.ts';
import { type Ask, createAsk, type Priority } from './dns/ask.ts';
import { createCache, type Resolve } from './dns/cache.ts';
import type { QuestionType, RecordData } from './dns/message.ts';
import { createServers, type ServersOptions } from './dns/servers.ts';

/** `ttlMs`: how long the answer still holds. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[]; ttlMs: number }
  /** The name exists, but has no records of this type (NODATA). */
  | { kind: 'no-data'; ttlMs: number }
  /** The name does not exist (NXDOMAIN, RFC 2308 2.1). */
  | { kind: 'no-name' }
  /** SERVFAIL, REFUSED, a timeout, an unreadable answer, no resolver at all, or no socket left: try again later. */
  | { kind: 'failed'; reason: string };

/** `exchange`: empty in a null MX (RFC 7505 3). */
export type MxRecord = { exchange: string; preference: number };

/** Names in answers are in lower case and without their final dot. None of these rejects. */
export type DnsLookups = {
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  /** Each record with its character-strings joined (RFC 7208 3.3). */
  txt(name: string): Promise<DnsAnswer<string>>;
  cname(name: string): Promise<DnsAnswer<string>>;
};

export type Dns = DnsLookups & {
  /** Lookups that do not read the cache, and that leave half of the resolver's slots to the others. */
  fresh: DnsLookups;
};

export type DnsOptions = ServersOptions & { clock: Clock };

/** @throws Error naming the address of a server that cannot be read */
export function createDns(options: DnsOptions): Dns {
  const ask = createAsk(options.clock, createServers(options));
  const resolveAs = (priority: Priority): Resolve => {
    const askAs = ofHostNames((question) => ask(question, priority));
    return (question) => resolve(askAs, question);
  };
  const { cached, fresh } = createCache(options.clock, resolveAs('delivery'), resolveAs('background'));
  return { ...lookups(cached), fresh: lookups(fresh) };
}

/** RFC 1035 2.3.4, with the underscore of service names (RFC 8552). Anything else must never reach a resolver (a NUL
 * is cut off silently there: security.md finding 2). */
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/;

export function isHostName(name: string): boolean {
  return HOST_NAME.test(name);
}

/** Of every question, those about the targets of aliases too. */
function ofHostNames(ask: Ask): Ask {
  return async (question) =>
    isHostName(question.name) ? ask(question) : { kind: 'failed', reason: 'not a host name' };
}

function lookups(find: Resolve): DnsLookups {
  async function look<T>(
    type: QuestionType,
    name: string,
    read: (data: RecordData) => T[],
  ): Promise<DnsAnswer<T>> {
    if (!isHostName(name)) return { kind: 'failed', reason: 'not a host name' };
    const finding: Finding = await find({ name: name.toLowerCase().replace(/\.$/, ''), type });
    switch (finding.kind) {
      case 'found':
        return { kind: 'found', records: finding.records.flatMap(read), ttlMs: finding.ttlMs };
      case 'no-data':
      case 'failed':
        return finding;
      case 'no-name':
        return { kind: 'no-name' };
    }
  }
  return {
    mx: (name) =>
      look('MX', name, (data) =>
        data.type === 'MX' ? [{ exchange: data.exchange, preference: data.preference }] : [],
      ),
    a: (name) => look('A', name, (data) => (data.type === 'A' ? [data.address] : [])),
    aaaa: (name) => look('AAAA', name, (data) => (data.type === 'AAAA' ? [data.address] : [])),
    txt: (name) => look('TXT', name, (data) => (data.type === 'TXT' ? [data.text] : [])),
    cname: (name) => look('CNAME', name, (data) => (data.type === 'CNAME' ? [data.target] : [])),
  };
}
