/**
 * SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677) as a server runs them: the client proves that it knows the password without
 * sending it, and the server proves that it knows the verifier. The session has the verifiers; here are the messages.
 */
import { randomBytes } from 'node:crypto';
import type { ChannelBinding } from './channel-binding.ts';
import { type Ask, checkAuthority, checkName, malformed, SaslError } from './exchange.ts';

/** Salt in base64, and number of iterations, by which a client turns its password into keys. */
export type ScramKey = { salt: string; iterations: number };

/** `message` is what both sides have said (AuthMessage), and `proof` the client's proof over it, in base64. */
export type ScramProof = { username: string; message: string; proof: string };

/** The decision about a proof. `serverSignature`, in base64, proves to the client that the server knows the verifier; a refusal has none. */
export type ScramAnswer<Answer> = { answer: Answer; serverSignature?: string | undefined };

/** The verifiers, as the mechanism reaches them. */
export type ScramSession<Answer> = {
  /** Returns the key of a name, whether an account has the name or not. */
  scramKey(username: string): Promise<ScramKey>;
  loginByProof(proof: ScramProof): Promise<ScramAnswer<Answer>>;
};

type ScramVariant = {
  /** The mechanism is SCRAM-SHA-256-PLUS. */
  isPlus: boolean;
  /** Bindings of the connection; the client may ask for PLUS exactly when there are some. */
  binding: ChannelBinding | undefined;
};

const NONCE_BYTES = 18;

/** GS2 header: channel binding flag, with the type of the binding, and identity to act for (RFC 5802 section 7). */
const FIRST = /^((n|y|p=([A-Za-z0-9.-]+)),(?:a=([^,]*))?,)(.*)$/s;
const FIRST_BARE = /^n=([^,\0]+),r=([\x21-\x2b\x2d-\x7e]+)((?:,[A-Za-z]=[^,\0]+)*)$/;
const FINAL =
  /^(c=([A-Za-z0-9+/]+={0,2}),r=([\x21-\x2b\x2d-\x7e]+)(?:,[A-Za-z]=[^,\0]+)*),p=([A-Za-z0-9+/]{43}=)$/;

/**
 * Runs the exchange.
 * @throws SaslError when the client does not follow it, or binds it to another connection
 */
export async function runScram<Answer>(
  ask: Ask,
  variant: ScramVariant,
  session: ScramSession<Answer>,
): Promise<Answer> {
  const first = readFirst(await ask(''), variant);
  const { salt, iterations } = await session.scramKey(first.username);
  const nonce = first.nonce + randomBytes(NONCE_BYTES).toString('base64');
  const challenge = `r=${nonce},s=${salt},i=${iterations}`;
  const final = readFinal(await ask(challenge));
  if (final.nonce !== nonce) malformed('The nonce is not that of the server');
  if (!final.bound.equals(first.bound))
    throw new SaslError('refused', 'The login is bound to another connection');
  const { answer, serverSignature } = await session.loginByProof({
    username: first.username,
    message: `${first.bare},${challenge},${final.withoutProof}`,
    proof: final.proof,
  });
  if (serverSignature === undefined) return answer;
  // A client that does not believe the server cancels here.
  if ((await ask(`v=${serverSignature}`)) !== '') malformed('The last answer of SCRAM is empty');
  return answer;
}

function readFirst(message: string, { isPlus, binding }: ScramVariant) {
  const [, header = '', flag = '', type, authority, bare = ''] = FIRST.exec(message) ?? [];
  if (header === '') malformed('The first message of SCRAM begins with a channel binding flag');
  const [, name = '', nonce = ''] = FIRST_BARE.exec(bare) ?? [];
  if (name === '')
    malformed('The first message of SCRAM has a name and a nonce, and no extensions that are needed');
  const username = decodeName(name);
  checkName(username);
  checkAuthority(decodeName(authority ?? ''), username);
  const data = readBinding({ isPlus, binding }, flag, type);
  return { username, nonce, bare, bound: Buffer.concat([Buffer.from(header), data]) };
}

/** Returns the value that binds the login to the connection; empty where the client does without one. */
function readBinding({ isPlus, binding }: ScramVariant, flag: string, type: string | undefined): Buffer {
  if (isPlus !== (type !== undefined)) malformed('PLUS and the channel binding flag go together');
  // The client has seen no PLUS in the list of mechanisms, from which somebody must have removed it (RFC 5802 section 6).
  if (flag === 'y' && binding)
    throw new SaslError('refused', 'The server offers channel bindings, which the client was not told');
  if (type === undefined) return Buffer.alloc(0);
  const data = binding?.(type);
  // Another password would not help, so the login must not fail as one with a wrong password does.
  if (!data) throw new SaslError('unsupported', 'The connection does not have this type of channel binding');
  return data;
}

/** Returns a name without its escapes: commas and equals signs are sent as `=2C` and `=3D`. */
function decodeName(text: string): string {
  if (/=(?!2C|3D)/.test(text)) malformed('A name has an equals sign that is not escaped');
  return text.replaceAll('=2C', ',').replaceAll('=3D', '=');
}

function readFinal(message: string) {
  const [, withoutProof = '', bound = '', nonce = '', proof = ''] = FINAL.exec(message) ?? [];
  if (withoutProof === '') malformed('The last message of SCRAM has a channel binding, a nonce and a proof');
  return { withoutProof, bound: Buffer.from(bound, 'base64'), nonce, proof };
}
