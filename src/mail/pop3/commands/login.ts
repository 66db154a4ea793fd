/** USER, PASS (RFC 1939 section 7) and AUTH (RFC 5034). */

import { type PrivacyContext, privacyOf } from '../../access/privacy.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { MAX_ANSWER_OCTETS, SaslError } from '../../sasl/exchange.ts';
import { offeredMechanisms, runMechanism, saslSessionOf } from '../../sasl/mechanisms.ts';
import type { EarlyConnection } from '../connection-state.ts';
import { readCommandLine } from '../read-command-line.ts';
import { type Admission, isRefusal, type Refusal } from '../session.ts';
import { type Command, earlyOf, type Result, refuse, sendLines } from './command.ts';

/** Returns the refusal of a login on a connection that others can read (RFC 2595 section 2.3). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  return privacyOf(connection).isPrivate
    ? undefined
    : refuse('The connection must be encrypted before a login');
}

/** Completes a login. A success hands the connection over. */
function admit({ context }: EarlyConnection, answer: Admission | Refusal): Result {
  context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  return { text: `${answer.count} messages (${answer.sizeBytes} octets)`, next: async () => answer };
}

/** Maximum length of a name, as that of SASL: the longest address has 254 octets. */
const MAX_NAME_OCTETS = 255;
const CONTROL = /\p{Cc}/u;

export const user: Command = {
  state: 'authorization',
  async run(connection, argument) {
    const name = argument.trim();
    const early = earlyOf(connection);
    const refusal = refusePlaintext(early);
    if (refusal) return refusal;
    if (name === '') return refuse('The command needs the name of a user');
    if (Buffer.byteLength(name) > MAX_NAME_OCTETS || CONTROL.test(name))
      return refuse('This is not the name of a user');
    early.user = name;
    return undefined;
  },
};

export const pass: Command = {
  state: 'authorization',
  async run(connection, password) {
    const early = earlyOf(connection);
    const { session, client, user: username } = early;
    if (username === undefined) return refuse('USER comes first');
    early.user = undefined;
    return admit(early, await session.login({ username, password, client }));
  },
};

/** AUTH (RFC 5034). Without a mechanism it lists them, which some clients ask for with a space at the end. */
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
