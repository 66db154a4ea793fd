/**
 * Encrypts secrets at rest with AES-256-GCM. The tenant id and the row id are the associated data, so a sealed value
 * that is copied to another row does not open. The sealed text names its key, so that keys can be rotated.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  KeyObject,
  randomBytes,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFlushed } from './write-flushed.ts';

export type Sealer = {
  /** The master key, for a thread that needs a sealer of its own. It never shows its bytes in a log. */
  readonly key: KeyObject;
  /** Seals a secret. `context` must be equal when it is opened; callers use the tenant id and the row id. */
  seal(secret: string, context: readonly string[]): string;
  /** Returns true when the value names this key. Only `open` proves that it can be opened. */
  hasSealed(sealed: string): boolean;
  /**
   * Returns the secret.
   * @throws Error when the value was changed, moved, or sealed with another key
   */
  open(sealed: string, context: readonly string[]): string;
};

/** Reports that the master key is missing although the database has secrets that were sealed with it. */
class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
}

/** Reports a master key that is not the one the secrets were sealed with. */
export class WrongKeyError extends Error {
  override readonly name = 'WrongKeyError';
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v1';

/** Returns a sealer that uses the master key, which has 32 bytes. */
export function createSealer(bytes: Uint8Array | KeyObject): Sealer {
  const key = bytes instanceof KeyObject ? bytes : createSecretKey(bytes);
  const keyId = createHash('sha256').update(key.export()).digest('hex').slice(0, 8);
  return {
    key,
    seal(secret, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associatedData(context));
      const body = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${FORMAT}.${keyId}.${body.toString('base64')}`;
    },
    hasSealed: (sealed) => sealed.startsWith(`${FORMAT}.${keyId}.`),
    open(sealed, context) {
      const [format, sealedWith, body] = sealed.split('.');
      if (format !== FORMAT || body === undefined) throw new Error('not a sealed value');
      if (sealedWith !== keyId)
        throw new WrongKeyError(`sealed with key ${sealedWith}, but the master key is ${keyId}`);
      const bytes = Buffer.from(body, 'base64');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed value');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(associatedData(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return (
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}

function associatedData(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context));
}

/**
 * Reads the master key of a data directory, or creates it with mode 0600 and flushes it to disk.
 * @throws MissingKeyError when the key is missing and `isNeeded`: a new key would not open existing secrets
 * @throws WrongKeyError when the file does not contain a key
 */
export function loadMasterKey(directory: string, isNeeded = false): Buffer {
  const file = join(directory, 'master.key');
  if (!existsSync(file)) {
    if (isNeeded)
      throw new MissingKeyError(`${file} is missing: restore the key that this database was created with`);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFlushed(file, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex');
  if (key.length !== KEY_BYTES) {
    throw new WrongKeyError(
      `${file} does not hold a key of ${KEY_BYTES} bytes in hex: restore the key that this database was created with`,
    );
  }
  return key;
}
