/** A client of SCRAM-SHA-256 (RFC 5802 section 3), and a session for servers under test that knows the password of one user. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { PasswordCredentials } from '../../src/mail/sasl/exchange.ts';
import type { ScramKey, ScramProof } from '../../src/mail/sasl/scram.ts';
import {
  createScramVerifier,
  SCRAM_ITERATIONS,
  verifyProof,
} from '../../src/mailboxes/passwords/scram-verifier.ts';

type ClientOptions = PasswordCredentials & {
  /** GS2 header, which names the type of the channel binding. */
  header?: string;
  /** Value of the channel binding. */
  binding?: Buffer;
  nonce?: string;
};

/** Returns a client. Its messages are text, not base64. */
export function createScramClient({
  username,
  password,
  header = 'n,,',
  binding = Buffer.alloc(0),
  nonce = 'rOprNGfwEbeRWgbNEkqO',
}: ClientOptions) {
  const bare = `n=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`;
  let expected: string | undefined;
  return {
    first: header + bare,
    /** Returns the answer to the first message of the server, and checks that it continues the nonce. */
    final(challenge: string): string {
      const [, whole = '', salt = '', iterations = ''] =
        /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge) ?? [];
      if (!whole.startsWith(nonce) || whole === nonce)
        throw new Error(`the nonce is wrong in "${challenge}"`);
      const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
      const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
      const clientKey = hmac(salted, 'Client Key');
      const cbind = Buffer.concat([Buffer.from(header), binding]).toString('base64');
      const withoutProof = `c=${cbind},r=${whole}`;
      const message = `${bare},${challenge},${withoutProof}`;
      const signature = hmac(createHash('sha256').update(clientKey).digest(), message);
      expected = `v=${hmac(hmac(salted, 'Server Key'), message).toString('base64')}`;
      const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
      return `${withoutProof},p=${proof.toString('base64')}`;
    },
    /** Returns true when the last message of the server is right. */
    believes: (final: string) => final === expected,
  };
}

/** Returns a session that knows this user, whose answer to a login is that of `login`. */
export function createScramSession<Request extends ScramProof, Answer>(
  { username, password }: PasswordCredentials,
  login: (credentials: Omit<Request, 'message' | 'proof'> & { password: string }) => Promise<Answer>,
) {
  const salt = randomBytes(16).toString('hex');
  const verifier = createScramVerifier(password, salt);
  return {
    scramKey: async (): Promise<ScramKey> => ({
      salt: Buffer.from(salt, 'hex').toString('base64'),
      iterations: SCRAM_ITERATIONS,
    }),
    async loginByProof({ message, proof, ...request }: Request) {
      const serverSignature =
        request.username === username ? verifyProof(await verifier, { message, proof }) : undefined;
      const given = serverSignature === undefined ? '' : password;
      return { answer: await login({ ...request, password: given }), serverSignature };
    },
  };
}
