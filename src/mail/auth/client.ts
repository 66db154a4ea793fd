/**
 * The client of a message: the one that sent it to the first of the relays that the operator trusts, such as a backup MX or a filter, and
 * whether its name in the DNS leads back to its address (RFC 8601 section 3, `iprev`). Only Received fields that a trusted relay wrote are
 * read.
 */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { getClientAddress, parseReceived } from 'mailauth/lib/parse-received.js';
import { reverseName } from '../../system/dns/reverse-name.ts';
import { type DnsAnswer, type DnsLookups, isHostName } from '../../system/dns.ts';
import type { HeaderField } from '../dkim/verify/header-fields.ts';
import type { ReverseDnsOutcome } from './result.ts';

export type Client = {
  address: string;
  /** Name that the client gave in EHLO or HELO. */
  helo: string;
};

/** Maximum number of trusted relays in a row. */
const MAX_HOPS = 10;
/** Maximum length of a Received field that is read. */
const MAX_FIELD_CHARACTERS = 4_096;

/**
 * Returns the client that sent the message to the trusted relays; the given one when it is no such relay, and undefined
 * when the fields of the relays do not tell.
 */
export function findClient(
  fields: readonly HeaderField[],
  client: Client,
  isTrusted: (address: string) => boolean,
): Client | undefined {
  const received = fields.filter(({ name }) => name === 'received');
  let current = client;
  for (let hop = 0; isTrusted(current.address); hop++) {
    const field = hop < MAX_HOPS ? received[hop] : undefined;
    const before = field && readClient(field.text);
    if (!before) return undefined;
    current = before;
  }
  return current;
}

function readClient(text: string): Client | undefined {
  if (text.length > MAX_FIELD_CHARACTERS) return undefined;
  const parsed = parseReceived(text);
  const from = parsed ? parsed.from : undefined;
  const address = from && getClientAddress(from);
  if (!address || isIP(address) === 0) return undefined;
  return { address, helo: from.value ?? '' };
}

/** Maximum number of names of an address that are checked. Mail servers have one. */
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
