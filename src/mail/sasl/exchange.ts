/** An exchange of SASL (RFC 4422 section 3): the server sends challenges, the client answers, and a protocol carries both in base64. */
import { isUtf8 } from 'node:buffer';
import type { ChannelBinding } from './channel-binding.ts';

/** Maximum length of a client's answer in base64: the longest that SASL clients send (RFC 4954 section 4). */
export const MAX_ANSWER_OCTETS = 12_288;

/** Maximum sizes of a name and of a password. RFC 4616 section 2 asks for at least 255; a password has at most 256 characters. */
const MAX_NAME_OCTETS = 255;
const MAX_PASSWORD_OCTETS = 1_024;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const CONTROL = /\p{Cc}/u;

/** The login of one client, as its protocol carries it. */
export type SaslChannel = {
  /** Initial response in base64, as it was sent: `=` is an empty one (RFC 4959 section 3). Undefined when the client sent none. */
  initial: string | undefined;
  /**
   * Sends a challenge in base64, and returns the line that the client answers. Returns undefined for a line of more than
   * `MAX_ANSWER_OCTETS`, which the protocol has read to its end.
   */
  ask(challenge: string): Promise<string | undefined>;
  /** Bindings of the connection; undefined when it has none. */
  binding: ChannelBinding | undefined;
};

/** Sends a challenge, and returns what the client answers. @throws SaslError */
export type Ask = (challenge: string) => Promise<string>;

/** A name and a password that a client has sent. Whether they are right is not known. */
export type PasswordCredentials = { username: string; password: string };

/** `unsupported`: another mechanism may work. `refused`: the login is not bound to this connection, or is for another user, which is a failed login. */
type SaslFault = 'unsupported' | 'malformed' | 'too-long' | 'cancelled' | 'refused';

/** Ends an exchange that the client does not follow. Nothing was compared with a password. The message is one line for the client. */
export class SaslError extends Error {
  override readonly name = 'SaslError';
  readonly fault: SaslFault;

  constructor(fault: SaslFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Refuses an answer that does not have the form of its mechanism. */
export function malformed(message: string): never {
  throw new SaslError('malformed', message);
}

/** Returns the function that asks the client. The initial response answers the first challenge, which is then not sent. */
export function createAsk({ initial, ask }: Pick<SaslChannel, 'initial' | 'ask'>): Ask {
  let first = initial === '=' ? '' : initial;
  return async (challenge) => {
    const answer = first ?? (await ask(Buffer.from(challenge).toString('base64')));
    first = undefined;
    return decodeAnswer(answer);
  };
}

function decodeAnswer(answer: string | undefined): string {
  if (answer === undefined || answer.length > MAX_ANSWER_OCTETS)
    throw new SaslError('too-long', `An answer has at most ${MAX_ANSWER_OCTETS} octets`);
  if (answer === '*') throw new SaslError('cancelled', 'The client has cancelled the login');
  if (!BASE64.test(answer)) malformed('The answer is not base64');
  const octets = Buffer.from(answer, 'base64');
  return isUtf8(octets) ? octets.toString() : malformed('The answer is not UTF-8');
}

/** Returns the credentials when they have a form that a name and a password can have. @throws SaslError */
export function checkCredentials({ username, password }: PasswordCredentials): PasswordCredentials {
  checkName(username);
  if (Buffer.byteLength(password) > MAX_PASSWORD_OCTETS) malformed('The password is too long');
  return { username, password };
}

/**
 * Checks the identity to act for, which is that of the user or none, because no user may act for another one. Names are the same in any
 * case, as addresses are.
 *
 * @throws SaslError that refuses the login (RFC 4616 section 2, RFC 4954 section 4)
 */
export function checkAuthority(authority: string, username: string): void {
  if (authority !== '' && authority.toLowerCase() !== username.toLowerCase())
    throw new SaslError('refused', 'A user cannot act for another user');
}

/** Checks the name of a user. Control characters in it could end a line, in a log or in another protocol. @throws SaslError */
export function checkName(name: string): void {
  if (name === '') malformed('The name of the user is empty');
  if (Buffer.byteLength(name) > MAX_NAME_OCTETS) malformed('The name of the user is too long');
  if (CONTROL.test(name)) malformed('The name of the user has control characters');
}
