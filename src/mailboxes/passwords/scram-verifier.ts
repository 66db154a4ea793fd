/**
 * Verifiers of passwords for SCRAM-SHA-256 (RFC 5802 section 3, RFC 7677): with one, a proof can be checked, and none can be made.
 * All verifiers of a mailbox have its salt and the same number of iterations, so that one proof can be tried against each of them.
 */
import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { ScramProof } from '../../mail/sasl/scram.ts';
import { invalid } from '../../system/errors.ts';

/** Octets in base64. */
export type ScramVerifier = { storedKey: string; serverKey: string };

/**
 * Number of iterations of PBKDF2, which clients compute at each login. It never changes, because every verifier was made with it. RFC 7677
 * section 4 asks for at least 4,096, and Cyrus SASL takes no more than 65,536.
 */
export const SCRAM_ITERATIONS = 32_768;
/** Number of bytes of a salt. */
export const SCRAM_SALT_BYTES = 16;
const KEY_BYTES = 32;

const derive = promisify(pbkdf2);

/** Matches passwords that SASLprep does not change. */
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/**
 * Returns a password as SCRAM clients prepare it (SASLprep, RFC 4013).
 * @throws AppError validation_error naming `param`, for characters that SASLprep prohibits
 */
export async function prepareForScram(param: string, password: string): Promise<string> {
  if (PRINTABLE_ASCII.test(password)) return password;
  const { default: saslprep } = await import('@mongodb-js/saslprep');
  try {
    return saslprep(password, { allowUnassigned: true });
  } catch {
    throw invalid(param, `\`${param}\` has characters that SCRAM does not allow (RFC 4013)`);
  }
}

/** Returns the verifier of a prepared password. It takes some milliseconds of the thread pool. */
export async function createScramVerifier(
  password: string,
  salt: string,
  iterations: number = SCRAM_ITERATIONS,
): Promise<ScramVerifier> {
  const salted = await derive(password, Buffer.from(salt, 'hex'), iterations, KEY_BYTES, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(key('Client Key')).digest('base64');
  return { storedKey, serverKey: key('Server Key').toString('base64') };
}

/** Returns the signature that proves to the client that the server has the verifier, in base64; undefined when the proof is wrong. */
export function verifyProof(
  { storedKey, serverKey }: ScramVerifier,
  { message, proof }: Pick<ScramProof, 'message' | 'proof'>,
): string | undefined {
  const sign = (key: string) => createHmac('sha256', Buffer.from(key, 'base64')).update(message).digest();
  const clientSignature = sign(storedKey);
  const clientKey = Buffer.from(proof, 'base64').map((byte, at) => byte ^ (clientSignature[at] ?? 0));
  const actual = createHash('sha256').update(clientKey).digest();
  const isRight = timingSafeEqual(actual, Buffer.from(storedKey, 'base64'));
  return isRight ? sign(serverKey).toString('base64') : undefined;
}
