/** LOGIN and AUTHENTICATE (RFC 9051 section 6.2). */

import { type PrivacyContext, privacyOf } from '../../access/privacy.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { MAX_ANSWER_OCTETS, SaslError } from '../../sasl/exchange.ts';
import { runMechanism, saslSessionOf } from '../../sasl/mechanisms.ts';
import { capabilitiesOf } from '../capabilities.ts';
import { CommandError } from '../command-error.ts';
import type { Connection, EarlyConnection } from '../connection-state.ts';
import { type Admission, isRefusal, type Refusal } from '../session.ts';
import { type Command, defineCommand, earlyOf, type Result } from './command.ts';

/** Returns the refusal of a login on a connection that others can read (RFC 9051 section 7.1, PRIVACYREQUIRED). */
export function refusePlaintext(connection: PrivacyContext): Refusal | undefined {
  if (privacyOf(connection).isPrivate) return undefined;
  return { refused: 'NO', code: 'PRIVACYREQUIRED', text: 'The connection must be encrypted before a login' };
}

/** Completes a login. A success hands the connection over, and tells the client the capabilities of the user. */
function admit({ context }: EarlyConnection, answer: Admission | Refusal): Result {
  context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  const noticed = `CAPABILITY ${capabilitiesOf(answer, context.limits.messageBytes)}`;
  return { noticed, text: 'Logged in', next: async () => answer };
}

/** LOGIN (RFC 9051 section 6.2.3). */
const login = defineCommand({
  name: 'LOGIN',
  states: 'not authenticated',
  parse(cursor) {
    cursor.space();
    const username = cursor.astring();
    cursor.space();
    return { username, password: cursor.astring() };
  },
  async run(connection, credentials) {
    const early = earlyOf(connection);
    const { session, client } = early;
    return refusePlaintext(early) ?? admit(early, await session.login({ ...credentials, client }));
  },
});

/** AUTHENTICATE (RFC 9051 section 6.2.2), with an initial response (RFC 4959). */
const authenticate = defineCommand({
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

/** Commands that log in. */
export const LOGIN_COMMANDS: readonly Command[] = [login, authenticate];
