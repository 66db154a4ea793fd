/** Logs a user in, for PASS and AUTH. */

import { ConnectionFault } from '../../access/fault.ts';
import { type PrivacyContext, privacyOf } from '../../access/privacy.ts';
import { OpenMaildrop } from '../open-maildrop.ts';
import { isRefusal, type Maildrop, type Refusal } from '../session.ts';
import { type Connection, type Result, refuse } from './command.ts';

/** Returns the refusal of a login on a connection that others can read (RFC 2595 section 2.3). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  return privacyOf(connection).isPrivate
    ? undefined
    : refuse('The connection must be encrypted before a login');
}

/** Completes a login. A success opens the maildrop. */
export function admit(connection: Connection, answer: Maildrop | Refusal): Result {
  connection.context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  const drop = new OpenMaildrop(answer);
  connection.state = { name: 'transaction', drop };
  void answer.ended?.then(({ text }) => connection.wire.interrupt(new ConnectionFault('session', text)));
  return { text: `${drop.count} messages (${drop.sizeBytes} octets)` };
}
