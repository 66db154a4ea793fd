/**
 * Decides whether a program may answer a message on behalf of a person (RFC 3834 section 2, RFC 5230 sections 4.5 and 4.6): mail of
 * programs, of mailing lists and of nobody may not be answered, nor mail that does not name the person as a recipient.
 */
import { addressKey, parseMailbox } from '../address.ts';
import { isAutoReply } from '../dsn/auto-reply.ts';
import { readAddressList } from '../message/address-list.ts';
import type { HeaderField } from '../message/header-block.ts';

/** Maximum number of addresses of a field that are read. Our own limit: a person stands in a longer list as one of a crowd. */
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
