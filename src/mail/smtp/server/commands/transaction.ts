/** MAIL and RCPT (RFC 5321 sections 4.1.1.2 and 4.1.1.3): begin a transaction, and name its recipients. */

import { reply } from '../format-reply.ts';
import { parseMailParameters, parseRecipientParameters } from '../parameters.ts';
import { parseForwardPath, parseReversePath } from '../path.ts';
import type { Hold, Reply, SmtpProtocol } from '../session.ts';
import {
  ask,
  BAD_SEQUENCE,
  type Command,
  type Connection,
  enterSlot,
  fault,
  offersNotifications,
  type SmtpContext,
  sendReply,
} from './command.ts';

/** Spaces around the colon are not allowed, but common (RFC 5321 section 3.3). */
const FROM = /^FROM: */i;
/** X.1.7 is a sender's address with wrong syntax (RFC 3463 section 3.2). */
const BAD_SENDER: Reply = { code: 501, status: '5.1.7', text: 'The argument of MAIL must be FROM:<address>' };
/** Refuses UTF-8 without the extension (RFC 6531 section 3.5). */
const SENDER_NOT_ASCII = reply(550, '5.6.7', 'An address that is not ASCII needs the parameter SMTPUTF8');
/** Protocols of a transaction with SMTPUTF8 (RFC 6531 section 4.3). */
const UTF8_PROTOCOLS: Partial<Record<SmtpProtocol, SmtpProtocol>> = {
  ESMTP: 'UTF8SMTP',
  ESMTPS: 'UTF8SMTPS',
  LMTP: 'UTF8LMTP',
  LMTPS: 'UTF8LMTPS',
  ESMTPSA: 'UTF8SMTPSA',
};
const TOO_LARGE: Reply = { code: 552, status: '5.3.4', text: 'The message is too large' };
/** Refuses to hold a message for longer than EHLO has said (RFC 4865 section 4). */
const HELD_TOO_LONG: Reply = { code: 501, status: '5.5.4', text: 'The message would be held for too long' };
const SENDER_ACCEPTED: Reply = { code: 250, status: '2.1.0', text: 'OK' };

export const mail: Command = {
  group: 'within',
  async run(connection, argument) {
    const { client, context } = connection;
    if (client.helo === undefined || connection.transaction) return BAD_SEQUENCE;
    const [prefix = ''] = FROM.exec(argument) ?? [];
    const path = prefix === '' ? undefined : parseReversePath(argument.slice(prefix.length));
    if (!path) return BAD_SENDER;
    const parsed = parseMailParameters(path.rest, {
      requireTls: client.tls !== undefined,
      isSubmission: context.options.submission !== undefined,
      notifications: takesNotifications(connection),
    });
    if ('refusal' in parsed) return parsed.refusal;
    const { parameters } = parsed;
    const releaseAt = releaseTime(context, parameters.hold);
    if (releaseAt === 'too late') return HELD_TOO_LONG;
    if (path.isUtf8 && !parameters.utf8) return SENDER_NOT_ASCII;
    // A message that is too large is refused before it is sent (RFC 1870 section 6.1).
    if ((parameters.sizeBytes ?? 0) > context.limits.messageBytes) {
      context.metrics.refused('message_size');
      return TOO_LARGE;
    }
    const sender = { address: path.address, ...parameters, ...(releaseAt !== undefined && { releaseAt }) };
    const protocol = (parameters.utf8 && UTF8_PROTOCOLS[client.protocol]) || client.protocol;
    const transaction = { sender, client: { ...client, protocol }, recipients: 0, isChunked: false };
    const refusal = await ask(connection, 'mail', (session) => session.mail(sender, transaction.client));
    if (refusal) return refusal;
    connection.transaction = transaction;
    enterSlot(connection, 'transaction');
    return SENDER_ACCEPTED;
  },
};

/** The session of a listener for submission itself answers parameters that are not for its client. */
function takesNotifications(connection: Connection): boolean {
  return connection.context.options.submission !== undefined || offersNotifications(connection);
}

/** Returns the time until which a message is held, in Unix milliseconds; undefined for one that is not. */
function releaseTime(
  { clock, options }: Pick<SmtpContext, 'clock' | 'options'>,
  hold: Hold | undefined,
): number | undefined | 'too late' {
  if (!hold) return undefined;
  const now = clock.now();
  const releaseAt = 'until' in hold ? hold.until : now + hold.seconds * 1_000;
  const maxHoldMs = (options.submission?.maxHoldSeconds ?? 0) * 1_000;
  return releaseAt > now + maxHoldMs ? 'too late' : releaseAt;
}

const TO = /^TO: */i;
/** X.1.3 is a recipient's address with wrong syntax (RFC 3463 section 3.2). */
const BAD_RECIPIENT: Reply = {
  code: 501,
  status: '5.1.3',
  text: 'The argument of RCPT must be TO:<address>',
};
/** Refuses UTF-8 without the extension (RFC 6531 section 3.5). */
const RECIPIENT_NOT_ASCII = reply(
  553,
  '5.6.7',
  'An address that is not ASCII needs MAIL with the parameter SMTPUTF8',
);
/** Asks the client to send the message to the others in another transaction (RFC 5321 section 4.5.3.1.10). */
const TOO_MANY: Reply = { code: 452, status: '4.5.3', text: 'The message has too many recipients' };
const TOO_MANY_REFUSED = reply(421, '4.7.0', 'Too many recipients were refused; the connection ends');
const RECIPIENT_ACCEPTED: Reply = { code: 250, status: '2.1.5', text: 'OK' };

export const rcpt: Command = {
  group: 'within',
  async run(connection, argument) {
    const { transaction, context } = connection;
    if (!transaction || transaction.isChunked) return BAD_SEQUENCE;
    const [prefix = ''] = TO.exec(argument) ?? [];
    const path = prefix === '' ? undefined : parseForwardPath(argument.slice(prefix.length));
    if (!path) return BAD_RECIPIENT;
    const parsed = parseRecipientParameters(path.rest, { notifications: takesNotifications(connection) });
    if ('refusal' in parsed) return parsed.refusal;
    if (path.isUtf8 && !transaction.sender.utf8) return RECIPIENT_NOT_ASCII;
    const isFull = transaction.recipients >= context.limits.recipients;
    const recipient = { address: path.address, ...parsed.parameters };
    const refusal = isFull
      ? TOO_MANY
      : await ask(connection, 'rcpt', (session) => session.rcpt(recipient, transaction.client));
    if (refusal) {
      refuse(connection, refusal);
      return undefined;
    }
    transaction.recipients++;
    return RECIPIENT_ACCEPTED;
  },
};

/**
 * Sends the refusal of one recipient. These have limits of their own: a message to many recipients, some of whom must
 * wait or no longer exist, is no sign of a broken client. They do not apply to a relay that passes on what its own
 * clients guess: the mail of others would wait for its next connection.
 */
function refuse(connection: Connection, refusal: Reply): void {
  const { counts, context } = connection;
  sendReply(connection, refusal, false);
  if (refusal.code >= 500) counts.refusedRecipients++;
  else counts.deferredRecipients++;
  const isTooMany =
    counts.refusedRecipients >= context.limits.refusedRecipients ||
    counts.deferredRecipients >= context.limits.deferredRecipients;
  if (isTooMany && !connection.isExempt) fault('refused_recipients', TOO_MANY_REFUSED);
}
