/** DKIM keys and the DNS record that publishes them (RFC 6376 section 3.6.1). */
import { generateKeyPair } from 'node:crypto';
import { parseRecordTags, parseTagItems, withoutWhiteSpace } from './tag-list.ts';

/**
 * Size of the key: at least 1024 bits are required and 2048 recommended (RFC 8301 section 3.2). Longer keys do not
 * fit one character-string.
 */
const RSA_MODULUS_BITS = 2048;
/** Maximum length of a record that is parsed. RFC 1035 section 3.3.14 allows 65,535; a key record is far shorter. */
const MAX_RECORD_CHARACTERS = 4_096;

/**
 * Generates an RSA key: the private key as PKCS #8 in PEM, the public key as SubjectPublicKeyInfo in base64, the form
 * of `p=`.
 */
export function generateDkimKey(): Promise<{ privateKeyPem: string; publicKeyBase64: string }> {
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
export function dkimKeyRecord(publicKeyBase64: string): string {
  return `v=DKIM1; k=rsa; p=${publicKeyBase64}`;
}

/**
 * Returns the RSA key that a record publishes for mail; undefined when the text is not such a record, or its key is
 * revoked (`p=` is empty).
 */
export function parseDkimKeyRecord(text: string): { publicKeyBase64: string } | undefined {
  const tags = text.length > MAX_RECORD_CHARACTERS ? undefined : parseRecordTags(text);
  if (!tags) return undefined;
  const isVersion1 = tags.get('v') === undefined || (tags.get('v') === 'DKIM1' && firstTag(tags) === 'v');
  const isRsa = (tags.get('k') ?? 'rsa').toLowerCase() === 'rsa';
  const allowsSha256 = listHas(tags.get('h'), ['sha256']);
  const servesMail = listHas(tags.get('s'), ['*', 'email']);
  const publicKeyBase64 = withoutWhiteSpace(tags.get('p') ?? '');
  if (!isVersion1 || !isRsa || !allowsSha256 || !servesMail) return undefined;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(publicKeyBase64) ? { publicKeyBase64 } : undefined;
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
