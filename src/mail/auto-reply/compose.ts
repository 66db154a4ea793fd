/** Composes the mail that a person's script sends: automatic replies (RFC 3834 section 3) and notifications (RFC 5436). */
import { createHash } from 'node:crypto';
import { isAsciiAddress, type Mailbox } from '../address.ts';
import { decodeWords } from '../message/decode-words.ts';
import { type Entity, textEntity, wholeBody } from '../message/entity.ts';
import { findValue, type HeaderField, readFieldLines } from '../message/header-block.ts';
import { writeMessageFields } from '../message/message-fields.ts';

/** Maximum length of a subject, of a message id that is named, and of all of them. Our own limits. */
const MAX_SUBJECT_CHARACTERS = 200;
const MAX_ID_CHARACTERS = 250;
const MAX_REFERENCES = 20;
/** Number of digits of the token of an owner: 128 bits. */
const TOKEN_CHARACTERS = 32;

/** A composed message without `Date`, and the size of its header with the empty line. */
export type ComposedMail = { bytes: Buffer; headerBytes: number };

type Reply = {
  /** Message id of the reply, without its angle brackets. */
  messageId: string;
  from: Mailbox;
  to: Mailbox;
  /** Subject of the reply; undefined for that of the message, with `Auto: ` in front (RFC 5230 section 5.3). */
  subject: string | undefined;
  /** Text of the reply, or with `isMime` its MIME entity with header and body. */
  text: string;
  isMime: boolean;
  /** Fields of the message that is answered. */
  fields: readonly HeaderField[];
};

/** Returns an automatic reply, which is sent with the null sender. */
export function composeReply({ messageId, from, to, subject, text, isMime, fields }: Reply): ComposedMail {
  const headers = [{ name: 'Auto-Submitted', value: 'auto-replied' }, ...threadFields(fields)];
  const body = (isMime ? readEntity(text) : undefined) ?? textEntity('plain', text);
  // ASCII subjects of scripts stay as they are, encoded-words in them included (RFC 5230 section 4.3).
  const isPartlyEncoded = subject !== undefined;
  return compose(
    { messageId, from, to: [to], cc: [], subject: subject ?? replySubject(fields), isPartlyEncoded, headers },
    body,
  );
}

type Notification = {
  messageId: string;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  /** Address of the person whose script notifies. */
  owner: string;
  subject: string | undefined;
  text: string | undefined;
  importance: 1 | 2 | 3;
  /** Other fields, as the script gave them. */
  headers: readonly { name: string; value: string }[];
  fields: readonly HeaderField[];
};

/** Importance of RFC 5435 section 3.5, as clients read it: 1 is the highest. */
const IMPORTANCES = { 1: 'high', 2: 'normal', 3: 'low' } as const;

/** Returns a notification about a message (RFC 5436 section 2.7), which is sent with the null sender. */
export function composeNotification(notification: Notification): ComposedMail {
  const { messageId, from, to, cc, owner, subject, text, importance, headers, fields } = notification;
  const own = [
    { name: 'Auto-Submitted', value: `auto-notified; ${ownerParameter(owner)}` },
    ...(importance === 2 ? [] : [{ name: 'Importance', value: IMPORTANCES[importance] }]),
    ...headers,
  ];
  const about = subjectOf(fields) || 'a message without a subject';
  const body = textEntity('plain', text ?? `You have got a message: ${about}\n`);
  return compose(
    { messageId, from, to, cc, subject: subject ?? `Notification: ${about}`, headers: own },
    body,
  );
}

/**
 * Returns the parameter that names the owner (RFC 5436 section 2.7.1). The one with an address is ASCII, so an owner whose address is in
 * UTF-8 gets a token.
 */
function ownerParameter(owner: string): string {
  if (isAsciiAddress(owner)) return `owner-email="${owner}"`;
  return `owner-token=${createHash('sha256').update(owner).digest('hex').slice(0, TOKEN_CHARACTERS)}`;
}

type Head = Pick<Notification, 'messageId' | 'from' | 'to' | 'cc' | 'headers'> & {
  subject: string;
  isPartlyEncoded?: boolean;
};

function compose({ subject, ...head }: Head, body: Entity): ComposedMail {
  const fields = writeMessageFields({ ...head, subject: oneLine(subject), replyTo: [] });
  const header = Buffer.from(`${fields}${body.fields}\r\n`);
  return { bytes: Buffer.concat([header, ...wholeBody(body)]), headerBytes: header.length };
}

function replySubject(fields: readonly HeaderField[]): string {
  const subject = subjectOf(fields);
  return subject === '' ? 'Automated reply' : `Auto: ${subject}`;
}

function subjectOf(fields: readonly HeaderField[]): string {
  return oneLine(decodeWords(findValue(fields, 'subject') ?? ''));
}

/** Returns a text that can stand in a field: one line, without control characters. */
function oneLine(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_SUBJECT_CHARACTERS)
    .toWellFormed();
}

/** Returns the fields that lead from the reply to the message (RFC 5322 section 3.6.4, RFC 5230 section 5.8). */
function threadFields(fields: readonly HeaderField[]): { name: string; value: string }[] {
  const [id] = idsOf(findValue(fields, 'message-id'));
  if (id === undefined) return [];
  const before = idsOf(findValue(fields, 'references') ?? findValue(fields, 'in-reply-to'));
  const references = [...before.filter((other) => other !== id), id].slice(-MAX_REFERENCES);
  return [
    { name: 'In-Reply-To', value: id },
    { name: 'References', value: references.join(' ') },
  ];
}

function idsOf(value = ''): string[] {
  return (value.match(/<[!-;=?A-~]+@[!-;=?-~]+>/g) ?? []).filter((id) => id.length <= MAX_ID_CHARACTERS);
}

/** Fields of an entity that a script may set. */
const ENTITY_FIELD = /^content-[!-9;-~]+$/;

/**
 * Reads a MIME entity that a script gives (RFC 5230 section 4.4). Returns undefined for one that is not ASCII, or that has no type: its
 * text is then sent as it is.
 */
function readEntity(text: string): Entity | undefined {
  const lines = text.replace(/\r?\n/g, '\r\n');
  if (/[^\t\r\n -~]/.test(lines)) return undefined;
  const octets = Buffer.from(lines, 'latin1');
  const end = lines.startsWith('\r\n') ? 0 : lines.indexOf('\r\n\r\n') + 2;
  if (end < 2) return undefined;
  const kept: string[] = [];
  for (const { name, start, end: fieldEnd } of readFieldLines(octets, { start: 0, end }))
    if (ENTITY_FIELD.test(name)) kept.push(octets.toString('latin1', start, fieldEnd));
  if (!kept.some((field) => /^content-type:/i.test(field))) return undefined;
  return { fields: kept.join(''), body: () => [octets.subarray(end + 2)] };
}
