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
  /**
   * Returns the context for a server name. A client that names no server, or one that no certificate has, gets that of
   * the first certificate.
   */
  find(serverName: string): SecureContext;
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

/** `keyType` is Node's name for it, such as `ec` or `rsa`. */
type Entry = CertificatePair & { names: readonly string[]; keyType: string };
type Contexts = { standard: SecureContext; byName: ReadonlyMap<string, SecureContext> };

/**
 * Returns a store of these certificates. For each name it offers one certificate for each type of key, such as elliptic
 * and RSA, and the client chooses. Of several with the same type, the first is used, and one with the name itself comes
 * before a wildcard.
 * @throws CertificateError
 */
export function createCertificateStore(pairs: readonly CertificatePair[]): CertificateStore {
  let contexts = makeContexts(pairs);
  return {
    find(serverName) {
      const name = serverName.toLowerCase().replace(/\.$/, '');
      return contexts.byName.get(name) ?? contexts.byName.get(wildcardOf(name)) ?? contexts.standard;
    },
    replace(replacements) {
      contexts = makeContexts(replacements);
    },
  };
}

/** Returns the name that a wildcard for this name has. It stands for one label (RFC 9525 section 6.3). */
function wildcardOf(name: string): string {
  return name.replace(/^[^.]+/, '*');
}

function makeContexts(pairs: readonly CertificatePair[]): Contexts {
  const entries = pairs.map(readEntry);
  const [first] = entries;
  if (!first) throw new CertificateError('there is no certificate');
  const named = (name: string) => entries.filter(({ names }) => names.includes(name));
  /** Contexts by the numbers of their entries, since many names have the same certificates. */
  const made = new Map<string, SecureContext>();
  const contextOf = (candidates: readonly Entry[]): SecureContext => {
    const chosen = firstOfEachType(candidates);
    const numbers = chosen.map((entry) => entries.indexOf(entry)).join();
    const context = made.get(numbers) ?? makeContext(chosen);
    made.set(numbers, context);
    return context;
  };
  const byName = new Map<string, SecureContext>();
  for (const name of new Set(entries.flatMap(({ names }) => names)))
    byName.set(name, contextOf([...named(name), ...named(wildcardOf(name))]));
  return { standard: contextOf([first, ...first.names.flatMap(named)]), byName };
}

function firstOfEachType(entries: readonly Entry[]): Entry[] {
  const byType = new Map<string, Entry>();
  for (const entry of entries) if (!byType.has(entry.keyType)) byType.set(entry.keyType, entry);
  return [...byType.values()];
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
    const privateKey = createPrivateKey(key);
    if (!certificate.checkPrivateKey(privateKey)) {
      throw new CertificateError(`the key does not belong to the certificate of ${names[0] ?? 'no name'}`);
    }
    return { chain, key, names, keyType: privateKey.asymmetricKeyType ?? '' };
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
