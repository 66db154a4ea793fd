/** Writes ENVELOPE (RFC 9051 section 7.5.2) from the fields of a message. */
import { domainToASCII } from 'node:url';
import { encodeWords } from '../../encoded-word.ts';
import { type EnvelopeAddress, readAddressList, surrogateAddress } from '../../message/address-list.ts';
import { decodeWords } from '../../message/decode-words.ts';
import { findValue, type HeaderField } from '../../message/header-block.ts';
import { type TextForm, writeNstring } from './strings.ts';

/** Maximum number of addresses of one field; further ones are left out. Servers accept far fewer recipients of a message. */
const MAX_ADDRESSES = 10_000;

const ASCII_ONLY = /^[\0-\x7f]*$/;

/** Returns the envelope. Sender and Reply-To are those of From when they are missing or empty. */
export function writeEnvelope(fields: readonly HeaderField[], form: TextForm): string {
  const text = (name: string): string => writeHeaderText(findValue(fields, name) ?? null, form);
  const addresses = (name: string): string => writeAddresses(addressesOf(fields, name), form);
  const from = addresses('from');
  const orFrom = (list: string): string => (list === 'NIL' ? from : list);
  const items = [
    text('date'),
    text('subject'),
    from,
    orFrom(addresses('sender')),
    orFrom(addresses('reply-to')),
    addresses('to'),
    addresses('cc'),
    addresses('bcc'),
    text('in-reply-to'),
    text('message-id'),
  ];
  return `(${items.join(' ')})`;
}

/** Returns the addresses of all fields with this name, which is in lower case. */
function addressesOf(fields: readonly HeaderField[], name: string): EnvelopeAddress[] {
  const values = fields.filter((field) => field.name === name).map(({ value }) => value);
  return readAddressList(values.join(', '), MAX_ADDRESSES);
}

/**
 * Returns the wire form of text from a header. Octets of 8 bits become encoded-words for a client that cannot read them (RFC 6858
 * section 2.3). Encoded-words stay as they are, since clients decode them.
 */
export function writeHeaderText(text: string | null, form: TextForm): string {
  const isSent = text === null || form === 'utf8' || ASCII_ONLY.test(text);
  return writeNstring(isSent ? text : encodeWords(decodeWords(text)), form);
}

function writeAddresses(addresses: readonly EnvelopeAddress[], form: TextForm): string {
  if (addresses.length === 0) return 'NIL';
  return `(${addresses.map((address) => writeAddress(address, form)).join('')})`;
}

function writeAddress(address: EnvelopeAddress, form: TextForm): string {
  const { name, route, mailbox, host } = form === '7bit' ? asSevenBit(address) : address;
  return `(${[name, route, mailbox, host].map((text) => writeHeaderText(text, form)).join(' ')})`;
}

/** A domain in UTF-8 has a form in ASCII, and a local part has none. The mark of a group has no host. */
function asSevenBit(address: EnvelopeAddress): EnvelopeAddress {
  const { mailbox, host } = address;
  if (host === null) return address;
  const asciiHost = ASCII_ONLY.test(host) ? host : domainToASCII(host);
  const isAddress = asciiHost !== '' && ASCII_ONLY.test(mailbox ?? '');
  return isAddress ? { ...address, host: asciiHost } : surrogateAddress(address);
}
