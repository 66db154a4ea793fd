/**
 * Seals the content of a link into a token (AES-256-GCM), so that the token carries everything that it stands for and needs
 * no row. The nonce is derived from the content: equal contents have equal tokens.
 *
 * A token is base64url without padding. Its bytes are the version, the id of the key, the nonce, the encrypted content and
 * the tag.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

/** The two keys of one kind of token, with 32 bytes each: one encrypts, and the other makes the nonce. */
export type SealingKeys = { encryption: Buffer; nonce: Buffer };

const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
/** Maximum length of an address (RFC 5321 section 4.5.3.1.3, without the angle brackets). */
const MAX_ADDRESS_BYTES = 254;

/** Returns the maximum length in characters of a token that has an address after so many bytes of other content. */
export function maxTokenCharacters(otherBytes: number): number {
  const bytes = HEAD_BYTES + NONCE_BYTES + otherBytes + MAX_ADDRESS_BYTES + TAG_BYTES;
  return Math.ceil((bytes * 4) / 3);
}

type Sealing = { version: number; keyId: Buffer; keys: SealingKeys };

/** Returns the token of a content. `version` is a byte that differs for each kind of token. */
export function sealToken({ version, keyId, keys }: Sealing, content: Buffer): string {
  const nonce = createHmac('sha256', keys.nonce).update(content).digest().subarray(0, NONCE_BYTES);
  const head = Buffer.concat([Buffer.of(version), keyId]);
  const cipher = createCipheriv('aes-256-gcm', keys.encryption, nonce).setAAD(head);
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([head, nonce, encrypted, cipher.getAuthTag()]).toString('base64url');
}

type Opening = {
  version: number;
  /** Minimum length of the content in bytes. */
  minBytes: number;
  maxCharacters: number;
  /** Returns the keys that the hexadecimal form of a key id names. */
  findKeys: (keyId: string) => SealingKeys | undefined;
};

/** Returns the content of a token, or undefined when the token is not exactly one that a key of ours sealed. */
export function openToken(
  { version, minBytes, maxCharacters, findKeys }: Opening,
  token: string,
): Buffer | undefined {
  if (token.length > maxCharacters) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // The decoder ignores foreign characters and the last bits, so that several texts would have the same bytes.
  if (bytes.toString('base64url') !== token) return undefined;
  const keys = findKeys(bytes.toString('hex', 1, HEAD_BYTES));
  if (bytes[0] !== version || !keys || bytes.length < HEAD_BYTES + NONCE_BYTES + minBytes + TAG_BYTES)
    return undefined;
  const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', keys.encryption, nonce)
    .setAAD(bytes.subarray(0, HEAD_BYTES))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const encrypted = bytes.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]);
  } catch {
    return undefined;
  }
}
