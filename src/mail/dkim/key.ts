/** DKIM keys and the DNS record that publishes them (RFC 6376 section 3.6.1, RFC 8463 section 4.2). */
import { generateKeyPair } from 'node:crypto';
import { parseRecordTags, parseTagItems, withoutWhiteSpace } from './tag-list.ts';

/**
 * Size of the key: at least 1024 bits are required and 2048 recommended (RFC 8301 section 3.2). Longer keys do not
 * fit one character-string.
 */
const RSA_MODULUS_BITS = 2048;
/** Maximum length of a record that is parsed. RFC 1035 section 3.3.14 allows 65,535; a key record is far shorter. */
const MAX_RECORD_CHARACTERS = 4_096;

/** Type of a key, as `k=` names it. */
type DkimKeyType = 'rsa' | 'ed25519';

/** The private key as PKCS #8 in PEM, and the public key in base64, in the form of `p=`. */
type DkimKeyPair = { privateKeyPem: string; publicKeyBase64: string };

/** Number of octets of an Ed25519 public key, which are the last ones of its SubjectPublicKeyInfo. */
const ED25519_OCTETS = 32;

/** Generates an Ed25519 key. Its public key is published without the structure around it (RFC 8463 section 4.2). */
export function generateEd25519Key(): Promise<DkimKeyPair> {
  return new Promise((resolve, reject) =>
    generateKeyPair('ed25519', {}, (error, publicKey, privateKey) => {
      if (error) return reject(error);
      const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const octets = publicKey.export({ type: 'spki', format: 'der' }).subarray(-ED25519_OCTETS);
      resolve({ privateKeyPem, publicKeyBase64: octets.toString('base64') });
    }),
  );
}

/** Generates an RSA key, whose public key is published as SubjectPublicKeyInfo. */
export function generateDkimKey(): Promise<DkimKeyPair> {
  const options = {
    modulusLength: RSA_MODULUS_BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  } as const;
  return new Promise((resolve, reject) =>
    generateKeyPair('rsa', options, (error, publicKey, privateKeyPem) => {
      if (error) reject(error);
      else resolve({ privateKeyPem, publicKeyBase64: publicKey.toString('base64') });
    }),
  );
}

/** Returns the text of the TXT record at `<selector>._domainkey.<domain>`. */
export function dkimKeyRecord(publicKeyBase64: string, type: DkimKeyType = 'rsa'): string {
  return `v=DKIM1; k=${type}; p=${publicKeyBase64}`;
}

/**
 * Returns the key that a record publishes for mail; undefined when the text is not such a record, or its key is
 * revoked (`p=` is empty).
 */
export function parseDkimKeyRecord(text: string): { type: DkimKeyType; publicKeyBase64: string } | undefined {
  const tags = text.length > MAX_RECORD_CHARACTERS ? undefined : parseRecordTags(text);
  if (!tags) return undefined;
  const isVersion1 = tags.get('v') === undefined || (tags.get('v') === 'DKIM1' && firstTag(tags) === 'v');
  const type = (tags.get('k') ?? 'rsa').toLowerCase();
  const allowsSha256 = listHas(tags.get('h'), ['sha256']);
  const servesMail = listHas(tags.get('s'), ['*', 'email']);
  const publicKeyBase64 = withoutWhiteSpace(tags.get('p') ?? '');
  if (!isVersion1 || !allowsSha256 || !servesMail || (type !== 'rsa' && type !== 'ed25519')) return undefined;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(publicKeyBase64) ? { type, publicKeyBase64 } : undefined;
}

function firstTag(tags: ReadonlyMap<string, string>): string | undefined {
  return tags.keys().next().value;
}

/**
 * Returns true when a colon-separated list contains one of `wanted`. An absent list allows everything. The case of letters does not matter:
 * the grammar of these values quotes them (RFC 6376 section 3.6.1).
 */
function listHas(list: string | undefined, wanted: readonly string[]): boolean {
  return list === undefined || parseTagItems(list.toLowerCase()).some((item) => wanted.includes(item));
}
