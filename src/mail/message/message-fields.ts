/**
 * Writes the header fields of a message that do not depend on its body, in the order in which they are sent. Blind
 * copies have no field: they are in the envelope only (RFC 5322 section 3.6.3).
 */
import type { Mailbox } from '../address.ts';
import { addressField, partlyEncodedField, structuredField, textField } from './headers.ts';
import { customField } from './repair/custom-field.ts';

export type MessageFields = {
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  subject: string;
  /** True for a subject that may hold encoded-words, which are kept. */
  isPartlyEncoded?: boolean;
  /** Header fields that the caller set, in order: printable text, and none of the fields that are written here. */
  headers: readonly { name: string; value: string }[];
  /** Message id without its angle brackets. */
  messageId: string;
};

/** Matches a message id: the characters of dot-atom-text on both sides of the `@` (RFC 5322 section 3.6.4). */
const MESSAGE_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+$/;
/**
 * Fields that callers cannot set: they occur only once, define the meaning of others (RFC 5322 section 3.6, RFC
 * 2045), or are added when the message is sent.
 */
const NOT_CUSTOM: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'message-id', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'],
  ...['return-path', 'received', 'dkim-signature'],
]);

/**
 * Returns the fields from `From` to `MIME-Version`, each with its CRLF.
 * @throws RangeError when a field would break the header
 */
export function writeMessageFields(message: MessageFields): string {
  if (!MESSAGE_ID.test(message.messageId)) throw new RangeError('the value is not a message id');
  return (
    addressField('From', [message.from]) +
    optionalAddresses('To', message.to) +
    optionalAddresses('Cc', message.cc) +
    optionalAddresses('Reply-To', message.replyTo) +
    (message.isPartlyEncoded ? partlyEncodedField : textField)('Subject', message.subject) +
    structuredField('Message-ID', `<${message.messageId}>`) +
    message.headers.map(ownField).join('') +
    structuredField('MIME-Version', '1.0')
  );
}

function optionalAddresses(name: string, mailboxes: readonly Mailbox[]): string {
  return mailboxes.length === 0 ? '' : addressField(name, mailboxes);
}

function ownField({ name, value }: { name: string; value: string }): string {
  if (NOT_CUSTOM.has(name.toLowerCase()))
    throw new RangeError(`header field ${name} is not the caller's to set`);
  return customField(name, value);
}
