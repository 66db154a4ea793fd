/**
 * The certificates of the TLS listeners, chosen by the server name that a client asks for (SNI, RFC 6066 section 3).
 * They can be replaced while connections are open; a connection keeps the one it began with.
 */
import { constants, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
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
  /** Returns the pairs that a client of this server name may be shown, one for each type of key. */
  pairsFor(serverName: string): readonly CertificatePair[];
  /**
   * Replaces all certificates. When one of them is not usable, the earlier ones stay. Sessions of earlier connections
   * can still be resumed.
   * @throws CertificateError
   */
  replace(pairs: readonly CertificatePair[]): void;
  /**
   * Replaces the key that encrypts session tickets. Whoever steals such a key can read the TLS 1.2 sessions that were
   * begun with it (RFC 5077 section 5.5), so it is used for a limited time. Sessions of earlier connections can no longer
   * be resumed, and their clients make a full handshake.
   */
  renewTicketKey(): void;
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

/** Length of the key of session tickets: its name, a key for HMAC and a key for AES, of 16 bytes each. Given by Node. */
const TICKET_KEY_BYTES = 48;
/** Time for which a session can be resumed, as Postfix has it (`smtpd_tls_session_cache_timeout`). */
const SESSION_SECONDS = 3_600;

/** `keyType` is Node's name for it, such as `ec` or `rsa`. */
type Entry = CertificatePair & { names: readonly string[]; keyType: string };

/** The certificates that a client of a name is offered. Its context is made when the first such client comes, because a host may have thousands of names. */
class Choice {
  readonly pairs: readonly Entry[];
  readonly #ticketKey: Buffer;
  #context: SecureContext | undefined;

  constructor(pairs: readonly Entry[], ticketKey: Buffer) {
    this.pairs = pairs;
    this.#ticketKey = ticketKey;
  }

  /** @throws CertificateError */
  get context(): SecureContext {
    this.#context ??= makeContext(this.pairs, this.#ticketKey);
    return this.#context;
  }
}

type Choices = { standard: Choice; byName: ReadonlyMap<string, Choice> };

/**
 * Returns a store of these certificates. For each name it offers one certificate for each type of key, such as elliptic
 * and RSA, and the client chooses. Of several with the same type, the first is used, and one with the name itself comes
 * before a wildcard. A session that was begun with any of them can be resumed with a ticket (RFC 5077, RFC 8446 section
 * 2.2), also after they were replaced, but not in another process.
 * @throws CertificateError
 */
export function createCertificateStore(pairs: readonly CertificatePair[]): CertificateStore {
  let current = pairs;
  let ticketKey = randomBytes(TICKET_KEY_BYTES);
  let choices = makeChoices(current, ticketKey);
  function choose(serverName: string): Choice {
    const name = serverName.toLowerCase().replace(/\.$/, '');
    return choices.byName.get(name) ?? choices.byName.get(wildcardOf(name)) ?? choices.standard;
  }
  return {
    find: (serverName) => choose(serverName).context,
    pairsFor: (serverName) => choose(serverName).pairs,
    replace(replacements) {
      choices = makeChoices(replacements, ticketKey);
      current = replacements;
    },
    renewTicketKey() {
      ticketKey = randomBytes(TICKET_KEY_BYTES);
      choices = makeChoices(current, ticketKey);
    },
  };
}

/** Returns the name that a wildcard for this name has. It stands for one label (RFC 9525 section 6.3). */
export function wildcardOf(name: string): string {
  return name.replace(/^[^.]+/, '*');
}

/** Certificates that were read before. A list that is replaced mostly has the same ones. */
const knownEntries = new WeakMap<CertificatePair, Entry>();

function makeChoices(pairs: readonly CertificatePair[], ticketKey: Buffer): Choices {
  const entries = pairs.map(findEntry);
  const [first] = entries;
  if (!first) throw new CertificateError('there is no certificate');
  const named = new Map<string, Entry[]>();
  for (const entry of entries)
    for (const name of entry.names) {
      const others = named.get(name);
      if (others) others.push(entry);
      else named.set(name, [entry]);
    }
  const find = (name: string) => named.get(name) ?? [];
  const numbers = new Map(entries.map((entry, number) => [entry, number]));
  /** Choices by the numbers of their entries, since many names have the same certificates. */
  const made = new Map<string, Choice>();
  const choiceOf = (candidates: readonly Entry[]): Choice => {
    const chosen = firstOfEachType(candidates);
    const key = chosen.map((entry) => numbers.get(entry)).join();
    const choice = made.get(key) ?? new Choice(chosen, ticketKey);
    made.set(key, choice);
    return choice;
  };
  const byName = new Map<string, Choice>();
  for (const name of named.keys()) byName.set(name, choiceOf([...find(name), ...find(wildcardOf(name))]));
  const standard = choiceOf([first, ...first.names.flatMap(find)]);
  // The clients that name no server need it, and a certificate that cannot be used is known at once.
  void standard.context;
  return { standard, byName };
}

function findEntry(pair: CertificatePair): Entry {
  const known = knownEntries.get(pair);
  if (known) return known;
  const entry = readEntry(pair);
  knownEntries.set(pair, entry);
  return entry;
}

function firstOfEachType(entries: readonly Entry[]): Entry[] {
  const byType = new Map<string, Entry>();
  for (const entry of entries) if (!byType.has(entry.keyType)) byType.set(entry.keyType, entry);
  return [...byType.values()];
}

function makeContext(entries: readonly Entry[], ticketKeys: Buffer): SecureContext {
  try {
    return createSecureContext({
      cert: entries.map(({ chain }) => chain),
      key: entries.map(({ key }) => key),
      ciphers: CIPHERS,
      minVersion: 'TLSv1.2',
      ticketKeys,
      sessionTimeout: SESSION_SECONDS,
      // A client that negotiates again and again costs the server far more than itself (CVE-2011-1473).
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
  } catch (error) {
    throw unreadable(error);
  }
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
    throw unreadable(error);
  }
}

function unreadable(error: unknown): CertificateError {
  return new CertificateError(`a certificate or its key cannot be read: ${errorMessage(error)}`, {
    cause: error,
  });
}

/** Returns the DNS names of a certificate in lower case. The common name is not one of them (RFC 9525 section 2). */
export function dnsNames({ subjectAltName = '' }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^",]+)/g)].map(([, name = '']) => name.toLowerCase());
}
