/** Logs a user in, for LOGIN and AUTHENTICATE (RFC 9051 section 6.2). */

import { ConnectionFault } from '../../access/fault.ts';
import { type PrivacyContext, privacyOf } from '../../access/privacy.ts';
import { capabilitiesOf } from '../capabilities.ts';
import { type Account, isRefusal, type Refusal } from '../session.ts';
import { type Connection, type Result, responseText } from './command.ts';

/** Returns the refusal of a login on a connection that others can read (RFC 9051 section 7.1, PRIVACYREQUIRED). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  if (privacyOf(connection).isPrivate) return undefined;
  return { refused: 'NO', code: 'PRIVACYREQUIRED', text: 'The connection must be encrypted before a login' };
}

/** Completes a login. A success changes the state, and tells the client the capabilities of the user. */
export function admit(connection: Connection, answer: Account | Refusal): Result {
  const { context } = connection;
  context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  connection.state = { name: 'authenticated', account: answer };
  void answer.ended?.then((refusal) =>
    connection.wire.interrupt(new ConnectionFault('session', responseText(refusal))),
  );
  return { noticed: `CAPABILITY ${capabilitiesOf(answer, context.limits.messageBytes)}`, text: 'Logged in' };
}
