/**
 * Answers the handshakes by which certificate authorities prove that a name leads here (TLS-ALPN-01, RFC 8737). Only the handshake counts, so
 * the connection ends after it.
 */
import { type AcceptTlsOptions, encodeProtocols } from '../system/accept-tls.ts';
import { type CertificatePair, createCertificateStore } from '../system/certificates.ts';

/** Answers to the challenges of open orders. Names are host names without a port. */
export type ChallengeAnswers = {
  /** Returns the body for a token of HTTP-01; undefined when no order waits for it. */
  answerHttp(host: string, token: string): string | undefined;
  /** Returns the certificate that proves a name; undefined when no order waits for it. */
  findAlpn(name: string): CertificatePair | undefined;
};

/** RFC 8737 section 6.2. */
const PROTOCOL = 'acme-tls/1';
const PROTOCOLS = encodeProtocols([PROTOCOL]);

/** Returns what serves a hello that asks for the protocol alone (RFC 8737 section 3), while an order waits for its name. */
export function findChallengeHandshake({
  findAlpn,
}: Pick<ChallengeAnswers, 'findAlpn'>): NonNullable<AcceptTlsOptions['findSpecial']> {
  return ({ serverName, protocols }) => {
    if (protocols.length !== 1 || protocols[0] !== PROTOCOL) return undefined;
    const pair = findAlpn(serverName);
    return pair && { context: createCertificateStore([pair]).find(serverName), protocols: PROTOCOLS };
  };
}
