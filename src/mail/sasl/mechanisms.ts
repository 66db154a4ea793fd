/**
 * The mechanisms of SASL by which clients log in, for every protocol: IMAP, POP3, SMTP and ManageSieve. PLAIN (RFC 4616) is one answer with
 * the identity to act for, the name and the password. LOGIN, which is not standardised, and which Outlook still uses, has the name and the
 * password in two answers.
 */
import type { ChannelBinding } from './channel-binding.ts';
import {
  type Ask,
  checkAuthority,
  checkCredentials,
  createAsk,
  malformed,
  type PasswordCredentials,
  type SaslChannel,
  SaslError,
} from './exchange.ts';
import { runScram, type ScramAnswer, type ScramKey, type ScramProof, type ScramSession } from './scram.ts';

/** Decides who logs in. `Answer` is whatever the protocol makes of a decision. */
export type SaslSession<Answer> = ScramSession<Answer> & {
  login(credentials: PasswordCredentials): Promise<Answer>;
};

type Exchange = { ask: Ask; binding: ChannelBinding | undefined };
type Mechanism = <Answer>(exchange: Exchange, session: SaslSession<Answer>) => Promise<Answer>;

const PLUS = 'SCRAM-SHA-256-PLUS';

/** Mechanisms in the order in which they are offered, which clients that choose the first one follow. */
const MECHANISMS: ReadonlyMap<string, Mechanism> = new Map<string, Mechanism>([
  [PLUS, ({ ask, binding }, session) => runScram(ask, { isPlus: true, binding }, session)],
  ['SCRAM-SHA-256', ({ ask, binding }, session) => runScram(ask, { isPlus: false, binding }, session)],
  ['PLAIN', async ({ ask }, session) => session.login(await askPlain(ask))],
  ['LOGIN', async ({ ask }, session) => session.login(await askLogin(ask))],
]);

/**
 * Returns the names of the mechanisms that a private connection is offered. Some of them send the password, so other connections are
 * offered none.
 * @param binding bindings of the connection, which PLUS needs
 */
export function offeredMechanisms(binding: ChannelBinding | undefined): readonly string[] {
  return [...MECHANISMS.keys()].filter((name) => name !== PLUS || binding !== undefined);
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
  return await mechanism({ ask: createAsk(channel), binding: channel.binding }, session);
}

/** Returns the name and the password of the client. @throws SaslError */
async function askPlain(ask: Ask): Promise<PasswordCredentials> {
  const parts = (await ask('')).split('\0');
  const [authority = '', username = '', password = ''] = parts;
  if (parts.length !== 3) malformed('The answer of PLAIN has three parts, with NUL between them');
  const credentials = checkCredentials({ username, password });
  checkAuthority(authority, username);
  return credentials;
}

/** Returns the name and the password of the client, which expects these two challenges, letter by letter. @throws SaslError */
async function askLogin(ask: Ask): Promise<PasswordCredentials> {
  const username = await ask('Username:');
  return checkCredentials({ username, password: await ask('Password:') });
}

/** Logins as the session of a connection decides about them, in IMAP, POP3 and ManageSieve. */

/** Decides who logs in. `Client` is what the protocol knows of its client, and `Answer` the user or a refusal. */
export type LoginSession<Client, Answer> = {
  login(credentials: PasswordCredentials & { client: Client }): Promise<Answer>;
  /** Returns the key of a name for SCRAM, whether a user has the name or not. */
  scramKey(username: string): Promise<ScramKey>;
  loginByProof(proof: ScramProof & { client: Client }): Promise<ScramAnswer<Answer>>;
};

/** Returns the session as mechanisms ask it on behalf of a client. */
export function saslSessionOf<Client, Answer>(
  session: LoginSession<Client, Answer>,
  client: Client,
): SaslSession<Answer> {
  return {
    login: (credentials) => session.login({ ...credentials, client }),
    scramKey: (username) => session.scramKey(username),
    loginByProof: (proof) => session.loginByProof({ ...proof, client }),
  };
}
