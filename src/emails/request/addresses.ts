/**
 * Reads the addresses of an email: each field as mailboxes and in the form given, and the recipients of the envelope.
 */

import { readAll, readEach } from '../../http/json/read-fields.ts';
import {
  addressKey,
  explainRefusal,
  MAX_MAILBOX_CHARACTERS,
  type Mailbox,
  parseMailbox,
} from '../../mail/address.ts';
import { invalid } from '../../system/errors.ts';
import type { SendBody } from '../schemas.ts';

export type Addresses = {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  /** The fields in the form given, which the API shows again. */
  given: { from: string; to: string[]; cc: string[]; bcc: string[]; replyTo: string[] };
};

type AddressFields = Pick<SendBody, 'from' | 'to' | 'cc' | 'bcc' | 'replyTo'>;

/**
 * Returns the addresses of a request.
 * @throws AppError validation_error naming every wrong field, such as `to[3]`
 */
export function readAddresses(body: AddressFields): Addresses {
  const given = {
    from: body.from,
    to: asList(body.to),
    cc: asList(body.cc),
    bcc: asList(body.bcc),
    replyTo: asList(body.replyTo),
  };
  const mailboxes = readAll({
    from: () => readMailbox('from', body.from),
    to: () => readList('to', body.to),
    cc: () => readList('cc', body.cc),
    bcc: () => readList('bcc', body.bcc),
    replyTo: () => readList('replyTo', body.replyTo),
  });
  return { ...mailboxes, given };
}

export type EnvelopeRecipient = { field: 'to' | 'cc' | 'bcc'; address: string; domain: string };

/** Returns the recipients of the envelope: each address once, with the first field that names it. */
export function envelopeRecipients(addresses: Pick<Addresses, 'to' | 'cc' | 'bcc'>): EnvelopeRecipient[] {
  const recipients = new Map<string, EnvelopeRecipient>();
  for (const field of ['to', 'cc', 'bcc'] as const) {
    for (const { address, domain } of addresses[field]) {
      const key = addressKey(address);
      if (!recipients.has(key)) recipients.set(key, { field, address, domain });
    }
  }
  return [...recipients.values()];
}

function readList(field: string, value: string | string[] | undefined): Mailbox[] {
  return readEach(asList(value), (text, index) =>
    readMailbox(Array.isArray(value) ? `${field}[${index}]` : field, text),
  );
}

function asList(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/**
 * Returns the mailbox that the text names.
 * @throws AppError validation_error naming `path`
 */
export function readMailbox(path: string, text: string): Mailbox {
  const mailbox = parseMailbox(text);
  if (mailbox) return mailbox;
  if (isNameToQuote(text))
    throw invalid(path, `\`${path}\` must have its name in quotes, as in "Ada, Inc." <ada@example.com>`);
  const rule = explainRefusal(text) ?? 'must be one address such as ada@example.com or Ada <ada@example.com>';
  throw invalid(path, `\`${path}\` ${rule}`);
}

/**
 * Returns true when the text becomes valid once its name is quoted: in `Ada, Inc. <ada@example.com>` only the comma
 * is wrong (RFC 5322 section 3.2.3, specials). A name with an `@` is probably a second address, which quotes would not correct.
 */
function isNameToQuote(text: string): boolean {
  if (text.length > MAX_MAILBOX_CHARACTERS) return false;
  const start = text.lastIndexOf('<');
  const name = text.slice(0, start).trim().replace(/["\\]/g, '\\$&');
  return start > 0 && !name.includes('@') && parseMailbox(`"${name}" ${text.slice(start)}`) !== undefined;
}
