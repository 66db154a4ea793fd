/** The mechanisms of SASL by which clients log in, for every protocol: IMAP, POP3, SMTP and ManageSieve. */
import { type Ask, createAsk, type PasswordCredentials, type SaslChannel, SaslError } from './exchange.ts';
import { askLogin } from './login.ts';
import { askPlain } from './plain.ts';

/** Decides who logs in. `Answer` is whatever the protocol makes of a decision. */
type SaslSession<Answer> = {
  login(credentials: PasswordCredentials): Promise<Answer>;
};

type Mechanism = <Answer>(ask: Ask, session: SaslSession<Answer>) => Promise<Answer>;

const MECHANISMS: ReadonlyMap<string, Mechanism> = new Map<string, Mechanism>([
  ['PLAIN', async (ask, session) => session.login(await askPlain(ask))],
  ['LOGIN', async (ask, session) => session.login(await askLogin(ask))],
]);

/** Returns the names of the mechanisms in the order in which they are offered. They send passwords, so the connection must be private. */
export function offeredMechanisms(): readonly string[] {
  return [...MECHANISMS.keys()];
}

/**
 * Runs the exchange of a mechanism, and returns what the session answers.
 * @param name name of the mechanism, in any case
 * @throws SaslError when the mechanism is unknown, or when the client does not follow it; the errors of the channel and of the session
 */
export async function runMechanism<Answer>(
  name: string,
  channel: SaslChannel,
  session: SaslSession<Answer>,
): Promise<Answer> {
  const mechanism = MECHANISMS.get(name.toUpperCase());
  if (!mechanism) throw new SaslError('unsupported', 'The mechanism is not supported');
  return await mechanism(createAsk(channel), session);
}
