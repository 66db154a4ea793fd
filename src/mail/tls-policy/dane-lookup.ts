/** Looks up the TLSA records of a mail server whose MX record DNSSEC proves (RFC 7672 section 2.2). */
import type { DnsLookups } from '../../system/dns.ts';
import { type TlsaRecord, usableRecords } from './tlsa.ts';

/** A host whose addresses are known. */
export type NamedHost = {
  /** Name of the MX record, in lower case and without a final dot. */
  name: string;
  /** True when DNSSEC proves the addresses. */
  isSecure: boolean;
  /** Name that the host is an alias of; undefined when it is none. */
  aliasTarget?: string | undefined;
};

/** `ttlMs` is the time for which the result remains valid. */
export type FoundTlsa =
  | { kind: 'usable'; base: string; records: TlsaRecord[]; ttlMs: number }
  /** There are records that DNSSEC proves, but none that a client can use. */
  | { kind: 'unusable'; ttlMs: number }
  | { kind: 'none'; ttlMs: number }
  /** There may be records. Whoever prevents the answer must not thereby prevent DANE. */
  | { kind: 'failed'; reason: string };

/** Looks up the records. Only answers that DNSSEC proves count. It never rejects. */
export async function findTlsa(
  dns: Pick<DnsLookups, 'tlsa' | 'cname'>,
  { name, isSecure, aliasTarget }: NamedHost,
): Promise<FoundTlsa> {
  if (isSecure) return askInTurn(dns, aliasTarget === undefined ? [name] : [aliasTarget, name]);
  if (aliasTarget === undefined) return { kind: 'none', ttlMs: Number.POSITIVE_INFINITY };
  // An alias into an unsigned zone is itself proven when its own zone is signed (RFC 7672 section 2.2.2).
  const alias = await dns.cname(name);
  if (alias.kind === 'failed') return { kind: 'failed', reason: alias.reason };
  if (alias.kind !== 'found' || !alias.isSecure) return { kind: 'none', ttlMs: Number.POSITIVE_INFINITY };
  return askInTurn(dns, [name]);
}

/** Returns the records of the first of the names that has any. */
async function askInTurn(dns: Pick<DnsLookups, 'tlsa'>, names: readonly string[]): Promise<FoundTlsa> {
  for (const base of names) {
    const answer = await dns.tlsa(`_25._tcp.${base}`);
    if (answer.kind === 'failed') return { kind: 'failed', reason: answer.reason };
    if (answer.kind !== 'found' || !answer.isSecure) continue;
    const records = usableRecords(answer.records);
    if (records.length === 0) return { kind: 'unusable', ttlMs: answer.ttlMs };
    return { kind: 'usable', base, records, ttlMs: answer.ttlMs };
  }
  return { kind: 'none', ttlMs: Number.POSITIVE_INFINITY };
}
