/** A send request, checked beyond its shape: addresses read, recipients told apart, text fit for a message. */
import { findMeant } from '../http/near-misses.ts';
import { addressKey, type Mailbox, parseMailbox } from '../mail/address.ts';
import { invalid } from '../system/errors.ts';
import { MOST_BODY_BYTES, type SendBody } from './schemas.ts';

export type EmailRequest = {
  type: 'transactional';
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  /** The same as given, for showing (decisions.md 8). */
  given: { from: string; to: string[]; cc: string[]; bcc: string[]; replyTo: string[] };
  subject: string;
  html: string | undefined;
  text: string | undefined;
};

/** Specification 4.1 fields that this version does not carry out: refused aloud, for a silent drop would send wrong mail. */
const NOT_YET = ['headers', 'attachments', 'tags', 'scheduledAt', 'templateId', 'variables'] as const;

/** @throws AppError validation_error naming the field */
export function readSendRequest(body: SendBody): EmailRequest {
  refuseLaterFields(body);
  if (body.html === undefined && body.text === undefined) {
    throw invalid('html', '`html` is required when `text` and `templateId` are absent');
  }
  const given = {
    from: body.from,
    to: asList(body.to),
    cc: asList(body.cc),
    bcc: asList(body.bcc),
    replyTo: asList(body.replyTo),
  };
  return {
    type: body.type,
    from: readMailbox('from', given.from),
    to: given.to.map((text, index) => readMailbox(pathOf('to', body.to, index), text)),
    cc: given.cc.map((text, index) => readMailbox(pathOf('cc', body.cc, index), text)),
    bcc: given.bcc.map((text, index) => readMailbox(pathOf('bcc', body.bcc, index), text)),
    replyTo: given.replyTo.map((text, index) => readMailbox(pathOf('replyTo', body.replyTo, index), text)),
    given,
    subject: readLine('subject', body.subject),
    html: readText('html', body.html),
    text: readText('text', body.text),
  };
}

/** Also under a wrong spelling, which nothing else would notice as these fields are not in the schema. */
function refuseLaterFields(body: SendBody): asserts body is SendBody & { type: 'transactional' } {
  for (const field of Object.keys(body)) {
    const later = findMeant(field, NOT_YET);
    if (later !== undefined) throw invalid(field, `\`${later}\` is not supported by this version`);
    // decisions.md 6: there are no topics yet, so none of this name.
    if (findMeant(field, ['topicId'])) throw invalid(field, '`topicId` must name an existing topic');
  }
  // decisions.md 7.
  if (body.type === 'broadcast')
    throw invalid('topicId', '`topicId` must name a topic when `type` is broadcast');
}

export type EnvelopeRecipient = { field: 'to' | 'cc' | 'bcc'; address: string; domain: string };

/** Each address once, in the first field that names it (api.md 1.2). */
export function envelopeRecipients(request: Pick<EmailRequest, 'to' | 'cc' | 'bcc'>): EnvelopeRecipient[] {
  const recipients = new Map<string, EnvelopeRecipient>();
  for (const field of ['to', 'cc', 'bcc'] as const) {
    for (const { address, domain } of request[field]) {
      const key = addressKey(address);
      if (!recipients.has(key)) recipients.set(key, { field, address, domain });
    }
  }
  return [...recipients.values()];
}

function asList(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : [value].flat();
}

function pathOf(field: string, value: unknown, index: number): string {
  return Array.isArray(value) ? `${field}[${index}]` : field;
}

function readMailbox(path: string, text: string): Mailbox {
  const mailbox = parseMailbox(text);
  if (!mailbox)
    throw invalid(path, `\`${path}\` must be one address such as ada@example.com or Ada <ada@example.com>`);
  return mailbox;
}

/** C0 but for the tab, and DEL. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t\u0080-\u009f]/u;

function readLine(field: string, text: string): string {
  if (CONTROL_CHARACTERS.test(text))
    throw invalid(field, `\`${field}\` must not contain line breaks or control characters`);
  if (text.trim() === '') throw invalid(field, `\`${field}\` must not be empty`);
  return wellFormed(field, text);
}

function readText(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.includes('\0')) throw invalid(field, `\`${field}\` must not contain NUL`);
  if (Buffer.byteLength(text) > MOST_BODY_BYTES) throw invalid(field, `\`${field}\` must be at most 2 MiB`);
  return wellFormed(field, text);
}

function wellFormed(field: string, text: string): string {
  if (!text.isWellFormed()) throw invalid(field, `\`${field}\` must be well-formed Unicode`);
  return text;
}
