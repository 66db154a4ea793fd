/**
 * DNS as a value. An answer says which of four things happened, because they mean different things to mail:
 * only `no-name` (NXDOMAIN) is a verdict on an address; `failed` is never one (engine.md 1, security.md finding 9).
 */
import { Resolver } from 'node:dns/promises';
import { errorCode } from './errors.ts';

export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** The name exists, but has no records of this type (NODATA). */
  | { kind: 'no-data' }
  /** The name does not exist (NXDOMAIN, RFC 2308 2.1). */
  | { kind: 'no-name' }
  /** SERVFAIL, REFUSED, a timeout, an unreadable answer, or no resolver at all: try again later. */
  | { kind: 'failed'; reason: string };

export type MxRecord = { exchange: string; preference: number };

export type Dns = {
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  /** Each record with its character-strings joined (RFC 7208 3.3). */
  txt(name: string): Promise<DnsAnswer<string>>;
  cname(name: string): Promise<DnsAnswer<string>>;
};

const QUERY_TIMEOUT_MS = 5_000;
const QUERY_TRIES = 2;

/** `servers`: addresses of resolvers (`192.0.2.1` or `192.0.2.1:53`); empty means those of the machine. */
export function createDns(servers: readonly string[]): Dns {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    mx: (name) =>
      answer(name, async () =>
        (await resolver.resolveMx(name)).map((mx) => ({ exchange: mx.exchange, preference: mx.priority })),
      ),
    a: (name) => answer(name, () => resolver.resolve4(name)),
    aaaa: (name) => answer(name, () => resolver.resolve6(name)),
    txt: (name) => answer(name, async () => (await resolver.resolveTxt(name)).map((parts) => parts.join(''))),
    cname: (name) => answer(name, () => resolver.resolveCname(name)),
  };
}

/** RFC 1035 2.3.4, with the underscore of service names (RFC 8552). Anything else must never reach a resolver (a NUL
 * is cut off silently there: security.md finding 2). */
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/;

export function isHostName(name: string): boolean {
  return HOST_NAME.test(name);
}

async function answer<T>(name: string, query: () => Promise<T[]>): Promise<DnsAnswer<T>> {
  if (!isHostName(name)) return { kind: 'failed', reason: 'not a host name' };
  try {
    const records = await query();
    return records.length > 0 ? { kind: 'found', records } : { kind: 'no-data' };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOTFOUND') return { kind: 'no-name' };
    if (code === 'ENODATA') return { kind: 'no-data' };
    return { kind: 'failed', reason: code ?? String(error) };
  }
}
