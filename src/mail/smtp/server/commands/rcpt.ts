/** RCPT (RFC 5321 section 4.1.1.3): names one recipient. */
import { parseRecipientParameters } from '../parameters.ts';
import { parseForwardPath } from '../path.ts';
import type { Reply } from '../session.ts';
import { ask, BAD_SEQUENCE, type Command, type Connection, fault, sendReply } from './command.ts';

const TO = /^TO: */i;
/** X.1.3 is a recipient's address with wrong syntax (RFC 3463 section 3.2). */
const BAD_PATH: Reply = { code: 501, status: '5.1.3', text: 'The argument of RCPT must be TO:<address>' };
/** Refuses UTF-8 without the extension (RFC 6531 section 3.5). */
const NOT_UTF8: Reply = {
  code: 553,
  status: '5.6.7',
  text: 'An address that is not ASCII needs MAIL with the parameter SMTPUTF8',
};
/** Asks the client to send the message to the others in another transaction (RFC 5321 section 4.5.3.1.10). */
const TOO_MANY: Reply = { code: 452, status: '4.5.3', text: 'The message has too many recipients' };
const TOO_MANY_REFUSED: Reply = {
  code: 421,
  status: '4.7.0',
  text: 'Too many recipients were refused; the connection ends',
};
const ACCEPTED: Reply = { code: 250, status: '2.1.5', text: 'OK' };

export const rcpt: Command = {
  group: 'within',
  async run(connection, argument) {
    const { transaction, context } = connection;
    if (!transaction || transaction.isChunked) return BAD_SEQUENCE;
    const [prefix = ''] = TO.exec(argument) ?? [];
    const path = prefix === '' ? undefined : parseForwardPath(argument.slice(prefix.length));
    if (!path) return BAD_PATH;
    const isSubmission = context.options.submission !== undefined;
    const parsed = parseRecipientParameters(path.rest, { isSubmission });
    if ('refusal' in parsed) return parsed.refusal;
    if (path.isUtf8 && !transaction.sender.utf8) return NOT_UTF8;
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
    return ACCEPTED;
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
