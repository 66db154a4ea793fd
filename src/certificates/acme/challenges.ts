/**
 * The answers to challenges that orders wait for: on port 80 (HTTP-01, RFC 8555 section 8.3), also behind a proxy, and in the
 * TLS listener (TLS-ALPN-01, RFC 8737). Orders offer and withdraw them, and the listeners read them. A name without an open order has no
 * answer, so nobody can have a name proven that this installation did not ask for.
 */
import type { Config } from '../../config/config.ts';
import type { CertificatePair } from '../../system/certificates.ts';

/** Answers for the listeners. Names are host names in any case, without a port. */
type Challenges = {
  /** Returns the body for `/.well-known/acme-challenge/<token>`; undefined when no order waits for it. */
  answerHttp(host: string, token: string): string | undefined;
  /** Returns the certificate for a connection with the protocol `acme-tls/1`; undefined when no order waits for it. */
  findAlpn(name: string): CertificatePair | undefined;
};

/** The name whose control is proven with a token, and the text that proves it (RFC 8555 section 8.1). */
type HttpAnswer = { name: string; token: string; keyAuthorization: string };

/** Disposing of what an offer returns withdraws the answer. */
export type OfferedChallenges = Challenges & {
  offerHttp(answer: HttpAnswer): Disposable;
  offerAlpn(name: string, pair: CertificatePair): Disposable;
};

/** Settings that decide where challenges are answered. */
export type ChallengeConfig = Pick<Config, 'http' | 'https'>;

/**
 * Returns true when a proxy of the operator has the ports of HTTPS: this installation has a public URL with TLS, and does not serve TLS itself.
 * Such a proxy passes requests for challenges on to the plain listener, as the examples in config/ do.
 */
export function isBehindProxy({ http, https }: ChallengeConfig): boolean {
  return !https.enabled && http.publicUrl.startsWith('https:');
}

/** Returns challenges without answers. */
export function createChallenges(): OfferedChallenges {
  const http = new Map<string, string>();
  const alpn = new Map<string, CertificatePair>();
  const keyOf = (name: string, token: string) => `${name.toLowerCase()} ${token}`;
  return {
    answerHttp: (host, token) => http.get(keyOf(host, token)),
    findAlpn: (name) => alpn.get(name.toLowerCase()),
    offerHttp: ({ name, token, keyAuthorization }) => offer(http, keyOf(name, token), keyAuthorization),
    offerAlpn: (name, pair) => offer(alpn, name.toLowerCase(), pair),
  };
}

function offer<Value>(offers: Map<string, Value>, key: string, value: Value): Disposable {
  offers.set(key, value);
  return {
    [Symbol.dispose]() {
      // A later offer under the same key stays.
      if (offers.get(key) === value) offers.delete(key);
    },
  };
}
