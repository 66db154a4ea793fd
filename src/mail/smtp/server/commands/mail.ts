/** MAIL (RFC 5321 section 4.1.1.2): begins a transaction. */
import { parseMailParameters } from '../parameters.ts';
import { parseReversePath } from '../path.ts';
import type { Hold, Reply, SmtpProtocol } from '../session.ts';
import { ask, BAD_SEQUENCE, type Command, enterSlot, type SmtpContext } from './command.ts';

/** Spaces around the colon are not allowed, but common (RFC 5321 section 3.3). */
const FROM = /^FROM: */i;
/** X.1.7 is a sender's address with wrong syntax (RFC 3463 section 3.2). */
const BAD_PATH: Reply = { code: 501, status: '5.1.7', text: 'The argument of MAIL must be FROM:<address>' };
/** Refuses UTF-8 without the extension (RFC 6531 section 3.5). */
const NOT_UTF8: Reply = {
  code: 550,
  status: '5.6.7',
  text: 'An address that is not ASCII needs the parameter SMTPUTF8',
};
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
const ACCEPTED: Reply = { code: 250, status: '2.1.0', text: 'OK' };

export const mail: Command = {
  group: 'within',
  async run(connection, argument) {
    const { client, context } = connection;
    if (client.helo === undefined || connection.transaction) return BAD_SEQUENCE;
    const [prefix = ''] = FROM.exec(argument) ?? [];
    const path = prefix === '' ? undefined : parseReversePath(argument.slice(prefix.length));
    if (!path) return BAD_PATH;
    const parsed = parseMailParameters(path.rest, {
      requireTls: client.tls !== undefined,
      isSubmission: context.options.submission !== undefined,
    });
    if ('refusal' in parsed) return parsed.refusal;
    const { parameters } = parsed;
    const releaseAt = releaseTime(context, parameters.hold);
    if (releaseAt === 'too late') return HELD_TOO_LONG;
    if (path.isUtf8 && !parameters.utf8) return NOT_UTF8;
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
    return ACCEPTED;
  },
};

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
