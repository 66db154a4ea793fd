/**
 * Decides whether a person's automatic reply to a message is appropriate (RFC 3834 section 2, RFC 5230 sections 4.5 and 4.6): never to
 * programs, mailing lists and bounces, and only to mail that names the person as a recipient.
 */
import { addressKey, parseMailbox } from '../address.ts';
import { readAddressList } from '../message/address-list.ts';
import type { HeaderField } from '../message/header-block.ts';

/** Maximum number of addresses of a field that are read. Our own limit: a person stands in a longer list as one of a crowd. */
const MAX_ADDRESSES = 1_000;

/** Fields that only mailing lists add (RFC 2369, RFC 2919). */
const LIST_FIELDS: ReadonlySet<string> = new Set([
  'list-id',
  'list-help',
  'list-subscribe',
  'list-unsubscribe',
  'list-post',
  'list-owner',
  'list-archive',
]);
/** Fields that name recipients (RFC 5230 section 4.5). */
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set([
  'to',
  'cc',
  'bcc',
  'resent-to',
  'resent-cc',
  'resent-bcc',
]);

/** Values of Precedence that mean mail to many. The field is no standard, and is in wide use (RFC 3834 section 2). */
const BULK = /^(?:bulk|junk|list|auto_reply)$/i;
/** Values of Microsoft's field by which a sender asks for no automatic replies. */
const SUPPRESSED = /\b(?:all|oof|autoreply)\b/i;

/** Matches local parts of programs and mailing lists, in lower case. Postmasters are people (RFC 5230 section 4.6). */
const PROGRAMS =
  /^(?:mailer-daemon|mail-daemon|listserv|listproc|majordomo|daemon|bounces?|(?:do-?not|no|never)[-_.]?reply|noreply[-_.+].*|owner-.*|.*-(?:request|owner|bounces?|relay)|bounces?[-_.+].*|prvs=.*|srs[01][=+-].*)$/;

/** The reason why nobody is answered. */
type NoReply = 'sender' | 'automatic' | 'list' | 'suppressed' | 'not addressed';

type ReplyQuestion = {
  /** Address of MAIL FROM; empty for the null reverse-path. */
  sender: string;
  fields: readonly HeaderField[];
  /** Addresses of the person who would answer. */
  own: readonly string[];
};

/** Returns why the message is not answered; undefined when it may be. */
export function reasonNotToReply({ sender, fields, own }: ReplyQuestion): NoReply | undefined {
  const mailbox = parseMailbox(sender);
  const owned = new Set(own.map(addressKey));
  if (!mailbox || PROGRAMS.test(mailbox.localPart.toLowerCase()) || owned.has(addressKey(sender)))
    return 'sender';
  if (fields.some(isAutomatic)) return 'automatic';
  if (fields.some(isOfList)) return 'list';
  if (fields.some(({ name, value }) => name === 'x-auto-response-suppress' && SUPPRESSED.test(value)))
    return 'suppressed';
  return fields.some((field) => names(field, owned)) ? undefined : 'not addressed';
}

/** Every value but `no` means that a program sent the message, whatever parameters follow it (RFC 3834 section 5). */
function isAutomatic({ name, value }: HeaderField): boolean {
  return name === 'auto-submitted' && !/^\s*no\b(?!-)/i.test(value);
}

function isOfList({ name, value }: HeaderField): boolean {
  return LIST_FIELDS.has(name) || (name === 'precedence' && BULK.test(value.trim()));
}

function names({ name, value }: HeaderField, owned: ReadonlySet<string>): boolean {
  if (!RECIPIENT_FIELDS.has(name)) return false;
  return readAddressList(value, MAX_ADDRESSES).some(
    ({ mailbox, host }) => mailbox !== null && host !== null && owned.has(addressKey(`${mailbox}@${host}`)),
  );
}
