/**
 * Decides whether a message may be answered by a program on behalf of a person (RFC 3834 section 2, RFC 5230 sections 4.5 and 4.6): mail of
 * programs and lists may not, nor mail that was not addressed to the person.
 */
import { addressKey } from '../address.ts';
import { isAutoReply } from '../dsn/auto-reply.ts';
import { readAddressList } from '../message/address-list.ts';
import { type HeaderField, readFields } from '../message/header-block.ts';

type ReplyRequest = {
  /** The message, or its header alone. */
  octets: Uint8Array;
  /** Address of MAIL FROM, to which the answer goes; empty for the null reverse-path. */
  sender: string;
  /** Addresses of the person: those of the mailbox, that of RCPT TO, and those that the script names. */
  ownAddresses: readonly string[];
};

/** Matches local parts of programs, behind which no person reads (RFC 5230 section 4.6). Rewritten senders (SRS) may be people. */
const PROGRAM =
  /^(?:mailer-daemon|listserv|listproc|majordomo|mailman|daemon|root|nobody|www-data|no[-_.]?reply|do[-_.]?not[-_.]?reply|bounces?|notifications?)(?:[+_-].*)?$|^owner-|-(?:request|owner|bounces|relay)$/i;

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
  ...['mailing-list', 'x-mailing-list', 'x-listname', 'x-list', 'x-loop'],
]);

/** Fields in which a message names whom it is for (RFC 5230 section 4.5). */
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set([
  ...['to', 'cc', 'bcc', 'resent-to', 'resent-cc', 'resent-bcc'],
]);

/** Maximum number of recipients of one field that are looked at. Our own limit. */
const MAX_RECIPIENTS = 1_000;

/** Returns why a message may not be answered, as the end of a sentence that begins with "it"; undefined when it may. */
export function findReasonNotToReply({ octets, sender, ownAddresses }: ReplyRequest): string | undefined {
  const header = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  const own = new Set(ownAddresses.map(addressKey));
  if (sender === '') return 'has no sender';
  if (own.has(addressKey(sender))) return 'comes from the owner';
  if (PROGRAM.test(sender.slice(0, sender.lastIndexOf('@')))) return 'comes from the address of a program';
  const fields = readFields(header, { start: 0, end: headerEnd(header) });
  if (fields.some(({ name }) => LIST_FIELDS.has(name))) return 'comes from a mailing list';
  if (suppressesReplies(fields) || isAutoReply(fields)) return 'was written by a program';
  return isAddressedTo(fields, own) ? undefined : 'is not addressed to the owner';
}

/** Some programs ask not to be answered by others (MS-OXCMAIL section 2.2.3.2.14). */
function suppressesReplies(fields: readonly HeaderField[]): boolean {
  return fields.some(
    ({ name, value }) => name === 'x-auto-response-suppress' && /\b(?:all|oof|autoreply)\b/i.test(value),
  );
}

function isAddressedTo(fields: readonly HeaderField[], own: ReadonlySet<string>): boolean {
  return fields
    .filter(({ name }) => RECIPIENT_FIELDS.has(name))
    .flatMap(({ value }) => readAddressList(value, MAX_RECIPIENTS))
    .some(({ mailbox, host }) => own.has(addressKey(`${mailbox}@${host}`)));
}

const EMPTY_LINE = Buffer.from('\r\n\r\n');

function headerEnd(octets: Buffer): number {
  const end = octets.indexOf(EMPTY_LINE);
  return end < 0 ? octets.length : end;
}
