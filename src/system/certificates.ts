/**
 * The certificates of the TLS listeners, chosen by the server name that a client asks for (SNI, RFC 6066 section 3).
 * They can be replaced while connections are open; a connection keeps the one it began with.
 */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { errorMessage } from './errors.ts';

/** A certificate and its key, both in PEM. The chain begins with the certificate itself. */
export type CertificatePair = { chain: string; key: string };

export type CertificateStore = {
  /** Context of the first certificate, for clients that name no server or one that no certificate has. */
  readonly standard: SecureContext;
  /** Returns the context for a server name; undefined when the standard context serves it. */
  find(serverName: string): SecureContext | undefined;
  /**
   * Replaces all certificates. When one of them is not usable, the earlier ones stay.
   * @throws CertificateError
   */
  replace(pairs: readonly CertificatePair[]): void;
};

/** Reports a certificate that cannot be used, in a message for the operator. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/**
 * Cipher suites of TLS 1.2: the ECDHE suites with authenticated encryption of Mozilla's "intermediate" guideline 5.7.
 * TLS 1.3 has no others.
 */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

type Entry = CertificatePair & { names: readonly string[] };
type Contexts = {
  standard: SecureContext;
  standardNames: ReadonlySet<string>;
  byName: ReadonlyMap<string, SecureContext>;
};

/**
 * Returns a store of these certificates. Those that share a name with the first one, such as one with an elliptic and
 * one with an RSA key, are offered together. Any other name has one certificate, the first that contains it, because
 * Node takes only one from the callback that chooses by name.
 * @throws CertificateError
 */
export function createCertificateStore(pairs: readonly CertificatePair[]): CertificateStore {
  let contexts = makeContexts(pairs);
  return {
    get standard() {
      return contexts.standard;
    },
    find(serverName) {
      const name = serverName.toLowerCase().replace(/\.$/, '');
      if (contexts.standardNames.has(name)) return undefined;
      // A wildcard stands for one label (RFC 9525 section 6.3).
      const wildcard = name.replace(/^[^.]+/, '*');
      return contexts.byName.get(name) ?? contexts.byName.get(wildcard);
    },
    replace(replacements) {
      contexts = makeContexts(replacements);
    },
  };
}

function makeContexts(pairs: readonly CertificatePair[]): Contexts {
  const [first, ...others] = pairs.map(readEntry);
  if (!first) throw new CertificateError('there is no certificate');
  const isTogether = ({ names }: Entry) => names.some((name) => first.names.includes(name));
  const byName = new Map<string, SecureContext>();
  for (const entry of others.filter((other) => !isTogether(other))) {
    const context = makeContext([entry]);
    for (const name of entry.names) if (!byName.has(name)) byName.set(name, context);
  }
  const together = [first, ...others.filter(isTogether)];
  const standardNames = new Set(together.flatMap(({ names }) => names));
  return { standard: makeContext(together), standardNames, byName };
}

function makeContext(entries: readonly Entry[]): SecureContext {
  return createSecureContext({
    cert: entries.map(({ chain }) => chain),
    key: entries.map(({ key }) => key),

    ciphers: CIPHERS,
    minVersion: 'TLSv1.2',
    // A client that negotiates again and again costs the server far more than itself (CVE-2011-1473).
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

function readEntry({ chain, key }: CertificatePair): Entry {
  try {
    const certificate = new X509Certificate(chain);
    const names = dnsNames(certificate);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) {
      throw new CertificateError(`the key does not belong to the certificate of ${names[0] ?? 'no name'}`);
    }
    return { chain, key, names };
  } catch (error) {
    if (error instanceof CertificateError) throw error;
    throw new CertificateError(`a certificate or its key cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Returns the DNS names of a certificate. The common name is not one of them (RFC 9525 section 2). */
function dnsNames({ subjectAltName = '' }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^",]+)/g)].map(([, name = '']) => name.toLowerCase());
}
