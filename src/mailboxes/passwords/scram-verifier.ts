/**
 * Verifiers of passwords for SCRAM-SHA-256 (RFC 5802 section 3, RFC 7677): with one, a proof can be checked, and none can be made.
 * All verifiers of a mailbox have its salt and the same number of iterations, so that one proof can be tried against each of them.
 */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** Octets in base64. */
type ScramVerifier = { storedKey: string; serverKey: string };

/**
 * Number of iterations of PBKDF2, which clients compute at each login. It never changes, because every verifier was made with it. RFC 7677
 * section 4 asks for at least 4,096, and Cyrus SASL takes no more than 65,536.
 */
const SCRAM_ITERATIONS = 32_768;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

const derive = promisify(pbkdf2);

/** Returns a new salt for a mailbox, in hex. */
export function newScramSalt(): string {
  return randomBytes(SALT_BYTES).toString('hex');
}

/** Returns the verifier of a password, which is in the form of SASLprep. It takes some milliseconds of the thread pool. */
export async function createScramVerifier(password: string, salt: string): Promise<ScramVerifier> {
  const salted = await derive(password, Buffer.from(salt, 'hex'), SCRAM_ITERATIONS, KEY_BYTES, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(key('Client Key')).digest('base64');
  return { storedKey, serverKey: key('Server Key').toString('base64') };
}
