/** Logins as the session of a connection decides about them, in IMAP, POP3 and ManageSieve. */
import type { PasswordCredentials } from './exchange.ts';
import type { SaslSession } from './mechanisms.ts';
import type { ScramAnswer, ScramKey, ScramProof } from './scram.ts';

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
