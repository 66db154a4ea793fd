/**
 * Reads the header of a message that its writer hands over, and prepares it for the queue. It is read strictly: what one program takes for
 * a field and another does not could show a reader another author than the one that was checked here.
 */
import { type Mailbox, parseMailbox } from '../mail/address.ts';
import { fieldValue, type HeaderField, splitFields } from '../mail/dkim/verify/header-fields.ts';
import { MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../mail/header-limits.ts';
import { decodeCharset } from '../mail/message/charset.ts';
import { decodeWords } from '../mail/message/decode-words.ts';
import { MAX_LINE_OCTETS } from '../mail/message/headers.ts';
import { hasLongLine } from '../mail/message/repair/legal-field.ts';
import { repairField } from '../mail/message/repair/repair-header.ts';
import { namesAuthservId } from '../mail/message/results-owner.ts';
import { RefusedMessage } from '../mail/smtp/refused-message.ts';
import { notAuthorized } from './refusals.ts';

export type SubmittedHeader = {
  /** The fields that stay, in order, with their folds. */
  fields: readonly HeaderField[];
  from: Mailbox;
  /** Text of From, unfolded. */
  fromText: string;
  /** All addresses that the message says that it is from: those of From, Sender, Resent-From and Resent-Sender. */
  senders: readonly Mailbox[];
  /** Values of the fields that are read and removed, in order, by their names in lower case. */
  options: ReadonlyMap<string, readonly string[]>;
};

/** Names of fields by which an application says how its message is handled. */
export const IDEMPOTENCY_FIELD = 'x-service-idempotency-key';
export const TAG_FIELD = 'x-service-tag';
const OPTION_FIELDS: ReadonlySet<string> = new Set([IDEMPOTENCY_FIELD, TAG_FIELD]);
/**
 * Fields that must not leave with the message (RFC 5322 section 3.6.3), and those that only receivers write (RFC 5321 section 4.4, RFC 7208
 * section 9.1).
 */
const REMOVED_FIELDS: ReadonlySet<string> = new Set(['bcc', 'resent-bcc', 'return-path', 'received-spf']);

/** Matches a line that begins a field (RFC 5322 section 2.2), without the spaces of obsolete syntax. */
const FIELD_LINE = /^[!-9;-~]{1,998}:/;
/** Matches a folded line. One of white space alone, which is obsolete (RFC 5322 section 4.2), ends the header for some programs. */
const FOLDED_LINE = /^[ \t]+[^ \t]/;
/** Fields that may stand once (RFC 5322 section 3.6). Programs disagree about which of several counts. From and Sender are read by themselves. */
const SINGLE_FIELDS = ['date', 'reply-to', 'to', 'cc', 'message-id', 'in-reply-to', 'references', 'subject'];
/** Matches what looks like an address in brackets. */
const BRACKETED_ADDRESS = /<[^>]*@|@[^<]*>/;
/** Matches what makes a reader see text in another order than programs, and control characters. */
const DISORDER = /[\p{Bidi_Control}\p{Cc}]/u;
/** Matches an address with a name in a comment behind it, as old programs write it: `ann@example.com (Ann Lee)`. */
const NAME_IN_COMMENT = /^([^\s<>()",:;]+) \(([^<>()@",:;\\=]*)\)$/;

/**
 * Reads and prepares a header, which has CRLF line ends.
 * @param authservId name of this installation in Authentication-Results fields
 * @throws RefusedMessage
 */
export function readHeader(header: Buffer, authservId: string): SubmittedHeader {
  const text = header.toString('latin1');
  requireLines(text);
  const fields = splitFields(text);
  requireSingleFields(fields);
  const options = new Map<string, string[]>();
  for (const field of fields.filter(({ name }) => OPTION_FIELDS.has(name)))
    options.set(field.name, [...(options.get(field.name) ?? []), textOf(field)]);
  const [author] = fields.filter(({ name }) => name === 'from');
  const from = readOne(fields, 'From') ?? refuse('The message has no From field');
  // Some programs show who has resent a message (RFC 5322 section 3.6.6) as who it comes from.
  const others = (['Sender', 'Resent-From', 'Resent-Sender'] as const).flatMap(
    (name) => readOne(fields, name) ?? [],
  );
  return {
    fields: fields.filter((field) => !isRemoved(field, authservId)),
    from,
    fromText: author ? textOf(author) : '',
    senders: [from, ...others],
    options,
  };
}

/**
 * Returns the header as it is stored, with its empty line: legal fields as they came, and the others repaired. `above` and `below` are further fields
 * with their CRLFs.
 * @throws RefusedMessage when a field cannot be repaired
 */
export function formatHeader(
  { fields }: Pick<SubmittedHeader, 'fields'>,
  { above, below, keepsUtf8 }: { above: string; below: string; keepsUtf8: boolean },
): Buffer {
  const own = fields.map((field) => `${repairField(field, { keepsUtf8 })}\r\n`).join('');
  const header = Buffer.from(`${above}${own}${below}\r\n`, 'latin1');
  if (hasLongLine(header)) refuseLongField(header.toString('latin1'));
  const hasGrown = header.length > MAX_HEADER_BYTES || own.split('\r\n').length - 1 > MAX_HEADER_LINES;
  if (hasGrown) refuseHeader('The header of the message is too large once its text is encoded and folded');
  return header;
}

function refuseLongField(header: string): never {
  const field = splitFields(header).find(({ text }) => hasLongLine(Buffer.from(text, 'latin1')));
  refuseHeader(
    `The field \`${field?.name}\` has a line of more than ${MAX_LINE_OCTETS} octets that cannot be folded`,
  );
}

/** Returns the text of the first field with this name, which is in lower case; undefined when there is none. */
export function findText({ fields }: Pick<SubmittedHeader, 'fields'>, name: string): string | undefined {
  const field = fields.find((candidate) => candidate.name === name);
  return field && textOf(field);
}

/** Returns the value of a field, unfolded. Octets above 127 are UTF-8, or else windows-1252, as they are when the field is stored. */
function textOf(field: HeaderField): string {
  const octets = Buffer.from(fieldValue(field).replace(/\r\n/g, ''), 'latin1');
  return decodeCharset(octets, '').replace(/\t/g, ' ').trim();
}

function isRemoved(field: HeaderField, authservId: string): boolean {
  if (REMOVED_FIELDS.has(field.name) || OPTION_FIELDS.has(field.name)) return true;
  // A field that claims to be ours would be believed by mail programs (RFC 8601 section 5).
  const value = textOf(field);
  if (field.name === 'authentication-results') return namesAuthservId(value, authservId);
  // The name stands behind the instance (RFC 8617 section 4.1.1).
  const isArc = field.name === 'arc-authentication-results';
  return isArc && namesAuthservId(value.slice(value.indexOf(';') + 1), authservId);
}

function requireLines(text: string): void {
  const lines = text.replace(/\r\n$/, '').split('\r\n');
  if (lines.length > MAX_HEADER_LINES) refuseHeader('The header of the message has too many lines');
  for (const [index, line] of lines.entries())
    if (!FIELD_LINE.test(line) && (index === 0 || !FOLDED_LINE.test(line)))
      refuseHeader(`Line ${index + 1} of the message is no header field; an empty line ends the header`);
}

function requireSingleFields(fields: readonly HeaderField[]): void {
  for (const name of SINGLE_FIELDS)
    if (fields.filter((field) => field.name === name).length > 1)
      refuseHeader(`The message has more than one field \`${name}\``);
}

/** X.6.0 is a problem of the content (RFC 3463 section 3.7). */
function refuseHeader(text: string): never {
  throw new RefusedMessage({ code: 550, status: '5.6.0', text });
}

function refuse(text: string): never {
  throw new RefusedMessage(notAuthorized(text));
}

type SenderField = 'From' | 'Sender' | 'Resent-From' | 'Resent-Sender';

/** Returns the one address of a field that must stand at most once; undefined when it does not stand at all. */
function readOne(fields: readonly HeaderField[], name: SenderField): Mailbox | undefined {
  const [field, ...more] = fields.filter((candidate) => candidate.name === name.toLowerCase());
  if (more.length > 0) refuse(`The message has more than one ${name} field`);
  if (!field) return undefined;
  const text = textOf(field).replace(NAME_IN_COMMENT, '$2 <$1>');
  const mailbox = parseMailbox(text);
  if (!mailbox) return refuse(`${name} must be one address, such as Ann <ann@example.com>`);
  const phrase = text.slice(0, Math.max(0, text.lastIndexOf('<')));
  // Some programs decode a name before they look for the address in the field, also where RFC 2047 section 5 has no encoded-words.
  const forms = [decodeWords(mailbox.name ?? ''), decodeWords(phrase)];
  if (forms.some((form) => BRACKETED_ADDRESS.test(form)))
    refuse(`The name in ${name} must not look like another address`);
  if (forms.some((form) => DISORDER.test(form) || form.includes('=?')))
    refuse(
      `The name in ${name} must have nothing that cannot be shown: an unknown charset, or control characters`,
    );
  return mailbox;
}
