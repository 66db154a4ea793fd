/** Writes ENVELOPE and BODYSTRUCTURE (RFC 9051 section 7.5.2) from a message. */
import { domainToASCII } from 'node:url';
import { encodeWords } from '../../encoded-word.ts';
import { type EnvelopeAddress, readAddressList, surrogateAddress } from '../../message/address-list.ts';
import { decodeWords } from '../../message/decode-words.ts';
import { extendedValue } from '../../message/filename.ts';
import { findValue, type HeaderField } from '../../message/header-block.ts';
import type { MimeParameter, ParameterField } from '../../message/mime-fields.ts';
import type { MimeEntity } from '../../message/mime-tree.ts';
import { type TextForm, writeNstring, writeString } from './strings.ts';

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
function writeHeaderText(text: string | null, form: TextForm): string {
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

/** Writes BODY and BODYSTRUCTURE (RFC 9051 section 7.5.2) from the tree of a message. */

/** How a structure is written: BODYSTRUCTURE has extension data, BODY has none. */
type StructureForm = { item: 'BODY' | 'BODYSTRUCTURE'; text: TextForm };

/** Charset of text without the parameter (RFC 2046 section 4.1.2). */
const DEFAULT_CHARSET: MimeParameter = { name: 'charset', value: 'us-ascii', isExtended: false };

/** Returns the structure of a message or of a part. */
export function writeBodyStructure(entity: MimeEntity, form: StructureForm): string {
  return entity.parts.length > 0 ? writeMultipart(entity, form) : writeSinglePart(entity, form);
}

function writeMultipart(entity: MimeEntity, form: StructureForm): string {
  const parts = entity.parts.map((part) => writeBodyStructure(part, form)).join('');
  const items = [parts, writeString(entity.subtype, form.text)].join(' ');
  if (form.item === 'BODY') return `(${items})`;
  return `(${items} ${writeParameters(entity.parameters, form.text)} ${writeExtension(entity, form.text)})`;
}

function writeSinglePart(entity: MimeEntity, form: StructureForm): string {
  const { text } = form;
  const items = [
    ...describe(entity).map((value) => writeHeaderText(value, text)),
    writeParameters(parametersOf(entity), text),
    writeHeaderText(findValue(entity.fields, 'content-id') ?? null, text),
    writeHeaderText(findValue(entity.fields, 'content-description') ?? null, text),
    writeHeaderText(entity.encoding, text),
    String(entity.end - entity.body),
  ];
  if (entity.message)
    items.push(writeEnvelope(entity.message.fields, text), writeBodyStructure(entity.message, form));
  if (entity.message || entity.type === 'text') items.push(String(entity.lines));
  if (form.item === 'BODYSTRUCTURE')
    items.push(
      writeHeaderText(findValue(entity.fields, 'content-md5') ?? null, text),
      writeExtension(entity, text),
    );
  return `(${items.join(' ')})`;
}

/** A message that could not be taken apart has no envelope, which message/rfc822 needs, and is shown as a file. */
function describe({ type, subtype, message }: MimeEntity): [type: string, subtype: string] {
  const isUnread = type === 'message' && (subtype === 'rfc822' || subtype === 'global') && !message;
  // A type is "multipart" only when parts follow.
  return isUnread ? ['application', 'octet-stream'] : [type, subtype];
}

function parametersOf({ type, parameters }: MimeEntity): readonly MimeParameter[] {
  const needsCharset = type === 'text' && !parameters.some(({ name }) => name === 'charset');
  return needsCharset ? [...parameters, DEFAULT_CHARSET] : parameters;
}

/** Writes what follows the parameters of a multipart, and the MD5 of another part: disposition, language and location. */
function writeExtension(entity: MimeEntity, text: TextForm): string {
  const location = findValue(entity.fields, 'content-location')?.replace(/\s+/g, '') ?? null;
  return [
    writeDisposition(entity.disposition, text),
    writeLanguages(findValue(entity.fields, 'content-language'), text),
    writeHeaderText(location, text),
  ].join(' ');
}

function writeDisposition(disposition: ParameterField | undefined, text: TextForm): string {
  if (!disposition) return 'NIL';
  return `(${writeHeaderText(disposition.value, text)} ${writeParameters(disposition.parameters, text)})`;
}

function writeLanguages(value: string | undefined, text: TextForm): string {
  const tags =
    value
      ?.replace(/\([^()]*\)/g, '')
      .split(',')
      .flatMap((tag) => tag.trim() || []) ?? [];
  return tags.length === 0 ? 'NIL' : `(${tags.map((tag) => writeHeaderText(tag, text)).join(' ')})`;
}

function writeParameters(parameters: readonly MimeParameter[], text: TextForm): string {
  if (parameters.length === 0) return 'NIL';
  return `(${parameters.map((parameter) => writeParameter(parameter, text)).join(' ')})`;
}

/** A value that had a charset has a name with `*` (RFC 9051 section 7.5.2); in 7 bits it is encoded as RFC 2231 says. */
function writeParameter({ name, value, isExtended }: MimeParameter, text: TextForm): string {
  if (!isExtended) return `${writeHeaderText(name, text)} ${writeHeaderText(value, text)}`;
  const sent = text === 'utf8' ? value : extendedValue(value);
  return `${writeHeaderText(`${name}*`, text)} ${writeString(sent, text)}`;
}
