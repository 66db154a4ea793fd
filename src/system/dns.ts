/**
 * DNS as a value. An answer has one of four kinds, because they mean different things to mail: only `no-name`
 * (NXDOMAIN) is a verdict on an address; `failed` never is. The stub resolver in `dns/` is our own, because Node's
 * resolver reports no TTLs and cuts a name off at a NUL.
 */
import type { Clock } from './clock.ts';
import { type Finding, type Proof, resolve } from './dns/answer.ts';
import { type Ask, createAsk, type Priority } from './dns/ask.ts';
import { createCache, type Resolve } from './dns/cache.ts';
import type { QuestionType, RecordData } from './dns/message.ts';
import { createServers, type ServersOptions } from './dns/servers.ts';

/** The result of a lookup. `ttlMs` is the time for which it remains valid, in milliseconds. */
export type DnsAnswer<T> =
  | ({ kind: 'found'; records: T[]; ttlMs: number } & Proof)
  /** The name exists, but has no records of this type (NODATA). */
  | ({ kind: 'no-data'; ttlMs: number } & Proof)
  /** The name does not exist (NXDOMAIN, RFC 2308 section 2.1). */
  | ({ kind: 'no-name' } & Proof)
  /**
   * No answer: SERVFAIL, REFUSED, a timeout, an unreadable answer, no resolver, or no free socket. A later lookup may
   * succeed.
   */
  | { kind: 'failed'; reason: string };

/** One mail exchanger. `exchange` is empty in a null MX (RFC 7505 section 3). */
export type MxRecord = { exchange: string; preference: number };

/** One server of a service. `target` is empty where the service is not offered (RFC 2782). */
export type SrvRecord = { priority: number; weight: number; port: number; target: string };

/** Lookups by record type. Names in answers are in lower case and without their final dot. No lookup rejects. */
export type DnsLookups = {
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  /** Returns each record with its character-strings joined (RFC 7208 section 3.3). */
  txt(name: string): Promise<DnsAnswer<string>>;
  cname(name: string): Promise<DnsAnswer<string>>;
  /**
   * Returns the names of an address, which is given by its name below `in-addr.arpa` or `ip6.arpa` (dns/reverse-name.ts). The
   * names are as their owner wrote them: some are not host names.
   */
  ptr(name: string): Promise<DnsAnswer<string>>;
  srv(name: string): Promise<DnsAnswer<SrvRecord>>;
  /** Returns the data of each record as zone files have it, such as `3 1 1 <hexadecimal>` in lower case (RFC 6698 section 2.2). */
  tlsa(name: string): Promise<DnsAnswer<string>>;
  /** Returns each record as a zone file has it: `0 issue "authority.example"`. */
  caa(name: string): Promise<DnsAnswer<string>>;
};

export type Dns = DnsLookups & {
  /**
   * Lookups that do not read the cache. They use at most half of the question slots, so that deliveries do not wait
   * for them.
   */
  fresh: DnsLookups;
};

type DnsOptions = ServersOptions & {
  clock: Clock;
  /** Returns true for a name that may be looked up, by default a host name. Any name that passes `isDnsName` can be asked for. */
  mayAsk?: (name: string) => boolean;
};

/**
 * Returns lookups over the configured resolvers, with a cache.
 * @throws Error naming the address of a server that cannot be parsed
 */
export function createDns(options: DnsOptions): Dns {
  const ask = createAsk(options.clock, createServers(options));
  const { mayAsk = isHostName } = options;
  const resolveAs = (priority: Priority): Resolve => {
    const askAs = ofNames(mayAsk, (question) => ask(question, priority));
    return (question) => resolve(askAs, question);
  };
  const { cached, fresh } = createCache(options.clock, resolveAs('delivery'), resolveAs('background'));
  return { ...lookups(cached, mayAsk), fresh: lookups(fresh, mayAsk) };
}

/**
 * Matches a host name (RFC 1035 section 2.3.4) and names with underscores (RFC 8552). Any other name must never reach a
 * resolver, because it silently cuts a name off at a NUL.
 */
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/;

/** Returns true for a name that may be looked up. The final dot is optional. */
export function isHostName(name: string): boolean {
  return HOST_NAME.test(name);
}

/** Returns true for `localhost` and the names below it, which lead to the machine that looks them up. */
export function isLocalName(name: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(name);
}

/**
 * Matches a name of the DNS in printable ASCII: its labels may have any characters (RFC 2181 section 11), but are never empty, and a dot always
 * ends a label.
 */
const DNS_NAME = /^(?=.{1,253}$)[ -\-/-~]{1,63}(?:\.[ -\-/-~]{1,63})*\.?$/;

/** Returns true for a name that the DNS can have, although no host has it, such as `a+b.example`. SPF looks up such names. */
export function isDnsName(name: string): boolean {
  return DNS_NAME.test(name);
}

/** Checks the name of every question, including the questions about alias targets. */
function ofNames(mayAsk: (name: string) => boolean, ask: Ask): Ask {
  return async (question) =>
    mayAsk(question.name) ? ask(question) : { kind: 'failed', reason: 'not a host name' };
}

function lookups(find: Resolve, mayAsk: (name: string) => boolean): DnsLookups {
  async function lookUp<T>(
    type: QuestionType,
    name: string,
    read: (data: RecordData) => T[],
  ): Promise<DnsAnswer<T>> {
    if (!mayAsk(name)) return { kind: 'failed', reason: 'not a host name' };
    const finding: Finding = await find({ name: name.toLowerCase().replace(/\.$/, ''), type });
    switch (finding.kind) {
      case 'found':
        return { ...finding, records: finding.records.flatMap(read) };
      case 'no-data':
      case 'failed':
        return finding;
      case 'no-name': {
        const { ttlMs: _ttlMs, ...answer } = finding;
        return answer;
      }
    }
  }
  return {
    mx: (name) =>
      lookUp('MX', name, (data) =>
        data.type === 'MX' ? [{ exchange: data.exchange, preference: data.preference }] : [],
      ),
    a: (name) => lookUp('A', name, (data) => (data.type === 'A' ? [data.address] : [])),
    aaaa: (name) => lookUp('AAAA', name, (data) => (data.type === 'AAAA' ? [data.address] : [])),
    txt: (name) => lookUp('TXT', name, (data) => (data.type === 'TXT' ? [data.text] : [])),
    cname: (name) => lookUp('CNAME', name, (data) => (data.type === 'CNAME' ? [data.target] : [])),
    ptr: (name) => lookUp('PTR', name, (data) => (data.type === 'PTR' ? [data.host] : [])),
    srv: (name) =>
      lookUp('SRV', name, (data) => {
        if (data.type !== 'SRV') return [];
        const { priority, weight, port, target } = data;
        return [{ priority, weight, port, target }];
      }),
    tlsa: (name) =>
      lookUp('TLSA', name, (data) =>
        data.type === 'TLSA'
          ? [`${data.usage} ${data.selector} ${data.matchingType} ${data.certificate}`]
          : [],
      ),
    caa: (name) =>
      lookUp('CAA', name, (data) =>
        data.type === 'CAA' ? [`${data.flags} ${data.tag} "${data.value}"`] : [],
      ),
  };
}
