/** AUTH (RFC 5034). Without a mechanism it lists them, which some clients ask for with a space at the end. */
import { MAX_ANSWER_OCTETS, SaslError } from '../../sasl/exchange.ts';
import { offeredMechanisms, runMechanism } from '../../sasl/mechanisms.ts';
import { readCommandLine } from '../read-command-line.ts';
import { type Command, type Connection, type Result, refuse, sendLines } from './command.ts';
import { logIn, refusePlaintext } from './log-in.ts';

export const auth: Command = {
  state: 'authorization',
  async run(connection, argument): Promise<Result> {
    const refusal = refusePlaintext(connection);
    if (refusal) return refusal;
    const [mechanism = '', initial, ...rest] = argument.split(' ');
    if (mechanism === '') return await sendLines(connection, '+OK Mechanisms', offeredMechanisms());
    if (rest.length > 0) return refuse('The command has at most two arguments');
    const channel = { initial, ask: (challenge: string) => readAnswer(connection, challenge) };
    const session = { login: (credentials: Parameters<typeof logIn>[1]) => logIn(connection, credentials) };
    try {
      return await runMechanism(mechanism, channel, session);
    } catch (error) {
      if (error instanceof SaslError) return refuse(error.message);
      throw error;
    }
  },
};

async function readAnswer(connection: Connection, challenge: string): Promise<string | undefined> {
  connection.wire.send(`+ ${challenge}\r\n`);
  return (await readCommandLine(connection, MAX_ANSWER_OCTETS))?.toString('latin1');
}
