/**
 * Resolves the addresses that a request may go to. Names are looked up in `Dns`, so no thread of the pool waits for a
 * slow resolver, and the connection goes to the address that was checked, even if DNS changes a moment later.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { RefusedTargetError, type TargetGuard } from '../blocklist.ts';
import type { Dns, DnsAnswer } from '../dns.ts';

/** Reports that DNS could not be asked. A name that DNS does not know is a `RefusedTargetError`. */
export class UnresolvedHostError extends Error {
  override readonly name = 'UnresolvedHostError';
}

/**
 * Returns a lookup function for sockets. It drops every address that the guard refuses, and fails when none is left.
 */
export function guardedLookup(guard: TargetGuard, dns: Pick<Dns, 'a' | 'aaaa'>): LookupFunction {
  return (host, options, callback) => {
    publicAddresses(guard, dns, host).then(
      ([first, ...others]) => {
        if (options.all) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

/**
 * Matches `localhost` and every name below it. They are this machine, and DNS is not asked (RFC 6761 section 6.3).
 */
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Returns the public addresses of a host. A name without addresses and one with private addresses alone fail in the
 * same way, after the same questions to DNS.
 * @throws RefusedTargetError, UnresolvedHostError
 */
async function publicAddresses(
  guard: TargetGuard,
  dns: Pick<Dns, 'a' | 'aaaa'>,
  host: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const answers: DnsAnswer<string>[] = LOCALHOST.test(host)
    ? []
    : await Promise.all([dns.a(host), dns.aaaa(host)]);
  const addresses = LOCALHOST.test(host) ? LOOPBACK : answers.flatMap(recordsOf);
  const [first, ...others] = guard
    .keepAllowed(host, addresses)
    .map((address) => ({ address, family: isIP(address) }));
  if (first) return [first, ...others];
  const failure = answers.find((answer) => answer.kind === 'failed');
  if (failure) throw new UnresolvedHostError(`${host} could not be looked up (${failure.reason})`);
  throw new RefusedTargetError(host);
}

function recordsOf(answer: DnsAnswer<string>): readonly string[] {
  return answer.kind === 'found' ? answer.records : [];
}
