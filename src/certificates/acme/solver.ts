/**
 * The ways to prove control of a name. A solver makes one kind of challenge answerable for the time of an order; the
 * order itself knows only this interface, so another way is another value in the list.
 */
import { createHash, createPrivateKey } from 'node:crypto';
import { DAY_MS } from '../../system/clock.ts';
import { generateCertificateKey } from '../new-key.ts';
import { type ChallengeConfig, isBehindProxy, type OfferedChallenges } from './challenges.ts';

/** A challenge that an authority offers for a name (RFC 8555 section 7.1.5). */
export type Challenge = {
  type: string;
  url: string;
  status: string;
  /** Empty for kinds of challenges that have none. */
  token: string;
  /** Names by which the authority is called in a persistent record; empty for all other kinds. */
  issuers: readonly string[];
};

type Proof = {
  name: string;
  challenge: Challenge;
  /** The token with the thumbprint of the account key. */
  keyAuthorization: string;
  accountUrl: string;
  /** Aborted when the run is to end. */
  signal: AbortSignal;
};

export type Solver = {
  /** Type of the challenges that it answers, such as `http-01`. */
  type: string;
  /** Returns why this way cannot prove a name, as far as that is known before an order; undefined when it may. */
  findObstacle(name: string, account: Pick<Proof, 'accountUrl'>): Promise<string | undefined>;
  /**
   * Makes the answer visible. Disposing of the result withdraws it. The result is undefined when this way cannot prove the
   * name at present, so that another way is chosen.
   */
  offer(proof: Proof): Promise<Disposable | AsyncDisposable | undefined>;
};

/** Returns the solver that answers on port 80 (RFC 8555 section 8.3), by itself or behind a proxy that passes the questions on. */
export function createHttpSolver(challenges: OfferedChallenges, config: ChallengeConfig): Solver {
  const isAsked = config.https.enabled || isBehindProxy(config);
  return {
    type: 'http-01',
    findObstacle: async () =>
      isAsked
        ? undefined
        : 'https.enabled is false, and http.publicUrl names no proxy, so nothing answers here',
    offer: async ({ name, challenge: { token }, keyAuthorization }) =>
      challenges.offerHttp({ name, token, keyAuthorization }),
  };
}

/** Tag and length of an octet string of 32 bytes in DER. */
const OCTET_STRING_OF_32 = Buffer.from([0x04, 0x20]);

/** Returns the solver that answers in the TLS listener with a certificate of its own (RFC 8737 section 3). */
export function createAlpnSolver(
  challenges: OfferedChallenges,
  clock: { now(): number },
  { https }: Pick<ChallengeConfig, 'https'>,
): Solver {
  return {
    type: 'tls-alpn-01',
    findObstacle: async () => (https.enabled ? undefined : 'https.enabled is false, so nothing answers here'),
    async offer({ name, keyAuthorization }) {
      const { issueSelfSigned } = await import('../issue.ts');
      const key = await generateCertificateKey('ec');
      const digest = createHash('sha256').update(keyAuthorization).digest();
      const chain = await issueSelfSigned({
        hostname: name,
        privateKey: createPrivateKey(key),
        algorithm: 'ECDSA',
        validFrom: clock.now() - DAY_MS,
        expiresAt: clock.now() + DAY_MS,
        acmeIdentifier: Buffer.concat([OCTET_STRING_OF_32, digest]),
      });
      return challenges.offerAlpn(name, { chain, key });
    },
  };
}
