/** AUTHENTICATE and UNAUTHENTICATE (RFC 5804 sections 2.1 and 2.14.1). */
import { ConnectionFault } from '../../access/fault.ts';
import { privacyOf } from '../../access/privacy.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { SaslError } from '../../sasl/exchange.ts';
import { saslSessionOf } from '../../sasl/login-session.ts';
import { runMechanism } from '../../sasl/mechanisms.ts';
import { type Connection, defineCommand, nextCommand, type Result } from '../command.ts';
import { writeString } from '../respond.ts';
import { type Account, isRefusal, type Refusal } from '../session.ts';

/** Mechanism whose first challenge has data, with which an initial response is refused (RFC 5804 section 2.1). */
const SERVER_FIRST = 'LOGIN';

export const authenticate = defineCommand({
  name: 'AUTHENTICATE',
  states: 'not authenticated',
  parameters: ['string', 'string?'],
  async run(connection, [mechanism, initial]): Promise<Result> {
    if (!privacyOf(connection).isPrivate)
      return {
        refused: 'NO',
        code: 'ENCRYPT-NEEDED',
        text: 'The connection must be encrypted before a login',
      };
    if (initial !== undefined && mechanism.toUpperCase() === SERVER_FIRST)
      return { refused: 'NO', text: 'The mechanism takes no initial response' };
    const binding = channelBindingOf(connection.socket);
    const channel = { initial, binding, ask: (challenge: string) => ask(connection, challenge) };
    try {
      return admit(
        connection,
        await runMechanism(mechanism, channel, saslSessionOf(connection.session, connection.client)),
      );
    } catch (error) {
      if (error instanceof SaslError) return { refused: 'NO', text: error.message };
      throw error;
    }
  },
});

/** Sends a challenge, and returns the string that the client answers. */
async function ask(connection: Connection, challenge: string): Promise<string | undefined> {
  connection.wire.send(`${writeString(challenge)}\r\n`);
  const answer = await nextCommand(connection);
  if (answer.kind === 'too large') return undefined;
  const [token, ...more] = answer.kind === 'complete' ? answer.tokens : [];
  if (token?.kind === 'string' && more.length === 0) return token.value;
  throw new SaslError('malformed', 'An answer is one string');
}

function admit(connection: Connection, answer: Account | Refusal): Result {
  connection.context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  connection.account = answer;
  void answer.ended?.then(({ text }) => {
    // The client may have logged out of the account, and into another one.
    if (connection.account === answer) connection.wire.interrupt(new ConnectionFault('session', text));
  });
  return { text: 'Logged in' };
}

export const unauthenticate = defineCommand({
  name: 'UNAUTHENTICATE',
  states: 'authenticated',
  parameters: [],
  async run(connection) {
    connection.account = undefined;
    // The client has as much time for its next login as for the first one.
    connection.beganAt = connection.context.clock.elapsed();
    return { text: 'Logged out of the account' };
  },
});
