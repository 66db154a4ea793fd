/**
 * Finds the client that SPF judges when mail comes through relays that the operator trusts, such as a backup MX or a
 * filter: the one that sent the message to the first of them. Only Received fields that a trusted relay wrote are read.
 */
import { isIP } from 'node:net';
import { getClientAddress, parseReceived } from 'mailauth/lib/parse-received.js';
import type { HeaderField } from '../dkim/verify/header-fields.ts';

export type Client = {
  address: string;
  /** Name that the client gave in EHLO or HELO. */
  helo: string;
};

/** Maximum number of trusted relays in a row. Our own limit. */
const MAX_HOPS = 10;
/** Maximum length of a Received field that is read. Our own limit. */
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
