/**
 * Proves that an address may send: its PTR record leads to the name in EHLO, that name leads back to it, and SPF allows it for the
 * return path of this installation. Large receivers refuse mail from addresses without this, over IPv6 most of all.
 */
import { isIPv6 } from 'node:net';
import { createResolver } from '../../mail/auth/resolver.ts';
import { checkSpf } from '../../mail/auth/spf.ts';
import { plainAddress } from '../../system/address-block.ts';
import { reverseName } from '../../system/dns/reverse-name.ts';
import type { DnsLookups } from '../../system/dns.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';

/** Maximum number of names of an address that are compared. */
const MAX_NAMES = 5;

export type Proof =
  | { kind: 'proven' }
  /** `says` is a sentence about the address. */
  | { kind: 'faulty'; says: string }
  /** DNS does not answer. */
  | { kind: 'unknown'; reason: string };

type Claimed = {
  address: string;
  ehlo: string;
  /** Domain of the return path. */
  returnPath: string;
};

/** Asks DNS for everything that receivers would ask for. */
export async function proveAddress(dns: DnsLookups, claimed: Claimed): Promise<Proof> {
  const reverse = await proveReverse(dns, claimed);
  return reverse.kind === 'proven' ? proveSpf(dns, claimed) : reverse;
}

async function proveReverse(dns: DnsLookups, { address, ehlo }: Claimed): Promise<Proof> {
  const answer = await dns.ptr(reverseName(address) ?? '');
  if (answer.kind === 'failed') return { kind: 'unknown', reason: `its PTR record: ${answer.reason}` };
  const names = answer.kind === 'found' ? answer.records.slice(0, MAX_NAMES).map(canonical) : [];
  if (names.length === 0) return { kind: 'faulty', says: 'it has no reverse DNS (PTR)' };
  if (!names.includes(ehlo)) {
    const shown = cleanForeignText(names.join(', '));
    return { kind: 'faulty', says: `its reverse DNS (PTR) names ${shown} instead of ${ehlo}` };
  }
  const forward = await (isIPv6(address) ? dns.aaaa(ehlo) : dns.a(ehlo));
  if (forward.kind === 'failed')
    return { kind: 'unknown', reason: `the addresses of ${ehlo}: ${forward.reason}` };
  if (forward.kind === 'found' && forward.records.map(plainAddress).includes(plainAddress(address)))
    return { kind: 'proven' };
  return { kind: 'faulty', says: `${ehlo}, which its reverse DNS (PTR) names, does not lead back to it` };
}

async function proveSpf(dns: DnsLookups, { address, ehlo, returnPath }: Claimed): Promise<Proof> {
  const client = { address, helo: ehlo, sender: `postmaster@${returnPath}`, hostname: ehlo };
  const { sender } = await checkSpf(createResolver(dns), client);
  if (sender.result === 'pass') return { kind: 'proven' };
  if (sender.result === 'temperror') return { kind: 'unknown', reason: `the SPF record of ${returnPath}` };
  return { kind: 'faulty', says: `the SPF record of ${returnPath} does not allow it (${sender.result})` };
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
