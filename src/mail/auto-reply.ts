/**
 * The mail that a person's script sends: automatic replies (RFC 3834 section 3) and notifications (RFC 5436). Mail of programs, of mailing
 * lists and of nobody is not answered, nor mail that does not name the person as a recipient (RFC 3834 section 2, RFC 5230 sections 4.5 and
 * 4.6).
 */
import { createHash } from 'node:crypto';
import { addressKey, isAsciiAddress, type Mailbox, parseMailbox } from './address.ts';
import { isAutoReply } from './dsn/bounce-signs.ts';
import { readAddressList } from './message/address-list.ts';
import { writeMessageFields } from './message/compose.ts';
import { decodeWords } from './message/decode-words.ts';
import { type Entity, textEntity, wholeBody } from './message/entity.ts';
import { findValue, type HeaderField, readFieldLines } from './message/header-block.ts';

/** Maximum length of a subject, of a message id that is named, and of all of them. */
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

/** Maximum number of addresses of a field that are read. A person stands in a longer list as one of a crowd. */
const MAX_ADDRESSES = 1_000;

/** Fields that only mailing lists add: those of RFC 2369 and RFC 2919, and older ones. */
const LIST_FIELDS: ReadonlySet<string> = new Set([
  ...[
    'list-id',
    'list-help',
    'list-subscribe',
    'list-unsubscribe',
    'list-post',
    'list-owner',
    'list-archive',
  ],
  ...['mailing-list', 'x-mailing-list', 'x-loop'],
]);
/** Fields that name recipients (RFC 5230 section 4.5). */
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set([
  ...['to', 'cc', 'bcc', 'resent-to', 'resent-cc', 'resent-bcc'],
]);

/**
 * Matches local parts of programs and mailing lists, in lower case. Postmasters are people (RFC 5230 section 4.6), and so are senders
 * that were rewritten, by SRS or with a signature (BATV).
 */
const PROGRAM =
  /^(?:(?:mailer-daemon|mail-daemon|listserv|listproc|majordomo|mailman|daemon|root|nobody|www-data|(?:do[-_.]?not|no|never)[-_.]?reply|bounces?|notifications?)(?:[-_.+].*)?|owner-.*|.*-(?:request|owner|bounces?|relay))$/;
/** Values of Microsoft's field by which a sender asks for no automatic replies (MS-OXCMAIL section 2.2.3.2.14). */
const SUPPRESSED = /\b(?:all|oof|autoreply)\b/i;

/** The reason why nobody is answered. */
type NoReply = 'sender' | 'automatic' | 'list' | 'not addressed';

type ReplyQuestion = {
  /** Address of MAIL FROM, to which the answer goes; empty for the null reverse-path. */
  sender: string;
  fields: readonly HeaderField[];
  /** Addresses of the person who would answer. */
  own: readonly string[];
};

/** Returns why the message is not answered; undefined when it may be. */
export function reasonNotToReply({ sender, fields, own }: ReplyQuestion): NoReply | undefined {
  const mailbox = parseMailbox(sender);
  const owned = new Set(own.map(addressKey));
  if (!mailbox || PROGRAM.test(mailbox.localPart.toLowerCase()) || owned.has(addressKey(sender)))
    return 'sender';
  if (fields.some(({ name }) => LIST_FIELDS.has(name))) return 'list';
  if (suppressesReplies(fields) || isAutoReply(fields)) return 'automatic';
  return fields.some((field) => names(field, owned)) ? undefined : 'not addressed';
}

function suppressesReplies(fields: readonly HeaderField[]): boolean {
  return fields.some(({ name, value }) => name === 'x-auto-response-suppress' && SUPPRESSED.test(value));
}

function names({ name, value }: HeaderField, owned: ReadonlySet<string>): boolean {
  if (!RECIPIENT_FIELDS.has(name)) return false;
  return readAddressList(value, MAX_ADDRESSES).some(
    ({ mailbox, host }) => mailbox !== null && host !== null && owned.has(addressKey(`${mailbox}@${host}`)),
  );
}
