/** Checks whether the name that the DNS gives to a client leads back to its address (RFC 8601 section 3, `iprev`). */
import ipaddr from 'ipaddr.js';
import { reverseName } from '../../system/dns/reverse-name.ts';
import { type DnsAnswer, type DnsLookups, isHostName } from '../../system/dns.ts';
import type { ReverseDnsOutcome } from './result.ts';

/** Maximum number of names of an address that are checked. Mail servers have one. Our own limit. */
const MAX_NAMES = 5;

/** Checks the names of an address. It never rejects. */
export async function checkReverseDns(dns: DnsLookups, address: string): Promise<ReverseDnsOutcome> {
  const asked = reverseName(address);
  if (asked === undefined) return { result: 'none', name: undefined };
  const answer = await dns.ptr(asked);
  if (answer.kind === 'failed') return { result: 'temperror', name: undefined };
  const names = answer.kind === 'found' ? answer.records.filter(isHostName).slice(0, MAX_NAMES) : [];
  const [first] = names;
  if (first === undefined) return { result: 'none', name: undefined };
  const client = ipaddr.process(address);
  const answers = await Promise.all(
    names.map((name) => (client.kind() === 'ipv4' ? dns.a(name) : dns.aaaa(name))),
  );
  const confirmed = answers.findIndex((found) => leadsTo(found, client.toNormalizedString()));
  if (confirmed >= 0) return { result: 'pass', name: names[confirmed] };
  const isUnknown = answers.some(({ kind }) => kind === 'failed');
  return { result: isUnknown ? 'temperror' : 'fail', name: first };
}

function leadsTo(answer: DnsAnswer<string>, address: string): boolean {
  return (
    answer.kind === 'found' &&
    answer.records.some((record) => ipaddr.isValid(record) && normal(record) === address)
  );
}

function normal(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}
