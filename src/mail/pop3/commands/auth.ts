/** AUTH (RFC 5034). Without a mechanism it lists them, which some clients ask for with a space at the end. */
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { MAX_ANSWER_OCTETS, SaslError } from '../../sasl/exchange.ts';
import { saslSessionOf } from '../../sasl/login-session.ts';
import { offeredMechanisms, runMechanism } from '../../sasl/mechanisms.ts';
import { readCommandLine } from '../read-command-line.ts';
import type { Refusal } from '../session.ts';
import { type Command, type EarlyConnection, earlyOf, type Result, refuse, sendLines } from './command.ts';
import { admit, refusePlaintext } from './log-in.ts';

export const auth: Command = {
  state: 'authorization',
  async run(anyConnection, argument): Promise<Result> {
    const connection = earlyOf(anyConnection);
    const refusal = refusePlaintext(connection);
    if (refusal) return refusal;
    const [mechanism = '', initial, ...rest] = argument.split(' ');
    const binding = channelBindingOf(connection.socket);
    if (mechanism === '') return await sendLines(connection, '+OK Mechanisms', offeredMechanisms(binding));
    if (rest.length > 0) return refuse('The command has at most two arguments');
    const channel = { initial, binding, ask: (challenge: string) => readAnswer(connection, challenge) };
    try {
      const session = saslSessionOf(connection.session, connection.client);
      return admit(connection, await runMechanism(mechanism, channel, session));
    } catch (error) {
      if (error instanceof SaslError) return toRefusal(error);
      throw error;
    }
  },
};

/** A login that is bound to another connection has failed as one with a wrong password has. */
function toRefusal({ fault, message }: SaslError): Refusal {
  return fault === 'refused' ? { refused: true, code: 'AUTH', text: message } : refuse(message);
}

async function readAnswer(connection: EarlyConnection, challenge: string): Promise<string | undefined> {
  connection.wire.send(`+ ${challenge}\r\n`);
  return (await readCommandLine(connection, MAX_ANSWER_OCTETS))?.toString('latin1');
}
