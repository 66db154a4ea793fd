/** AUTHENTICATE (RFC 9051 section 6.2.2), with an initial response (RFC 4959). */
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { MAX_ANSWER_OCTETS, SaslError } from '../../sasl/exchange.ts';
import { saslSessionOf } from '../../sasl/login-session.ts';
import { runMechanism } from '../../sasl/mechanisms.ts';
import { CommandError } from '../command-error.ts';
import { type Connection, defineCommand, earlyOf, type Result } from './command.ts';
import { admit, refusePlaintext } from './log-in.ts';

export const authenticate = defineCommand({
  name: 'AUTHENTICATE',
  states: 'not authenticated',
  parse(cursor) {
    cursor.space();
    const mechanism = cursor.word();
    let initial: string | undefined;
    if (!cursor.isAtEnd) {
      cursor.space();
      initial = cursor.rest();
    }
    return { mechanism, initial };
  },
  async run(connection, { mechanism, initial }): Promise<Result> {
    const early = earlyOf(connection);
    const refusal = refusePlaintext(early);
    if (refusal) return refusal;
    const binding = channelBindingOf(early.socket);
    const channel = { initial, binding, ask: (challenge: string) => readAnswer(early, challenge) };
    try {
      const session = saslSessionOf(early.session, early.client);
      return admit(early, await runMechanism(mechanism, channel, session));
    } catch (error) {
      throw error instanceof SaslError ? refusalOf(error) : error;
    }
  },
});

async function readAnswer({ wire, framing }: Connection, challenge: string): Promise<string | undefined> {
  wire.send(`+ ${challenge}\r\n`);
  const line = await framing.readLine(MAX_ANSWER_OCTETS);
  return line?.toString('latin1');
}

function refusalOf({ fault, message }: SaslError): CommandError {
  if (fault === 'refused') return new CommandError('NO', message, 'AUTHENTICATIONFAILED');
  if (fault === 'unsupported') return new CommandError('NO', message, 'CANNOT');
  return new CommandError('BAD', message, fault === 'too-long' ? 'LIMIT' : undefined);
}
