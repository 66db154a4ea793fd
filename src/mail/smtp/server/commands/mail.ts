/** MAIL (RFC 5321 section 4.1.1.2): begins a transaction. */
import { parseMailParameters } from '../parameters.ts';
import { parseReversePath } from '../path.ts';
import type { Reply, SmtpProtocol } from '../session.ts';
import { ask, BAD_SEQUENCE, type Command } from './command.ts';

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
};
const TOO_LARGE: Reply = { code: 552, status: '5.3.4', text: 'The message is too large' };
const ACCEPTED: Reply = { code: 250, status: '2.1.0', text: 'OK' };

export const mail: Command = {
  group: 'within',
  async run(connection, argument) {
    const { client, context } = connection;
    if (client.helo === undefined || connection.transaction) return BAD_SEQUENCE;
    const [prefix = ''] = FROM.exec(argument) ?? [];
    const path = prefix === '' ? undefined : parseReversePath(argument.slice(prefix.length));
    if (!path) return BAD_PATH;
    const parsed = parseMailParameters(path.rest, { requireTls: client.tls !== undefined });
    if ('refusal' in parsed) return parsed.refusal;
    const { parameters } = parsed;
    if (path.isUtf8 && !parameters.utf8) return NOT_UTF8;
    // A message that is too large is refused before it is sent (RFC 1870 section 6.1).
    if ((parameters.sizeBytes ?? 0) > context.limits.messageBytes) {
      context.metrics.refused('message_size');
      return TOO_LARGE;
    }
    const sender = { address: path.address, ...parameters };
    const protocol = (parameters.utf8 && UTF8_PROTOCOLS[client.protocol]) || client.protocol;
    const transaction = { sender, client: { ...client, protocol }, recipients: 0, isChunked: false };
    const refusal = await ask(connection, 'mail', (session) => session.mail(sender, transaction.client));
    if (refusal) return refusal;
    connection.transaction = transaction;
    return ACCEPTED;
  },
};
