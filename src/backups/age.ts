/**
 * Files in the format of age (https://age-encryption.org/v1), which `age` opens. The package age-encryption reads and writes keys
 * and headers. Its ciphers are JavaScript and take a core for as long as they run, so the payload goes through node:crypto.
 */
import { randomBytes } from 'node:crypto';
import { Decrypter, Encrypter } from 'age-encryption';
import { decryptPayload, encryptPayload, PAYLOAD_NONCE_BYTES, payloadKey } from './age-payload.ts';

/** Number of bytes that the package writes after the header of an empty file: a nonce, and the tag of an empty chunk. */
const EMPTY_PAYLOAD_BYTES = PAYLOAD_NONCE_BYTES + 16;
/** Maximum size of a header. A recipient takes about 100 bytes, and one with a post-quantum key 1,600. */
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Encrypts a stream for public keys (`age1…`).
 * @throws Error when there is no key, or one that is damaged
 */
export async function* encryptAge(
  plain: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncGenerator<Buffer> {
  const { header, fileKey } = await makeHeader(recipients);
  const nonce = randomBytes(PAYLOAD_NONCE_BYTES);
  yield Buffer.concat([header, nonce]);
  yield* encryptPayload(plain, payloadKey(fileKey, nonce));
}

/**
 * Decrypts a stream with secret keys (`AGE-SECRET-KEY-1…`). The stream is complete once it has ended without an error.
 * @throws Error when no key opens it, or when it was changed or cut off
 */
export async function* decryptAge(
  encrypted: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): AsyncGenerator<Buffer> {
  const source = encrypted[Symbol.asyncIterator]();
  try {
    const { header, nonce, rest } = await readStart(source);
    const decrypter = new Decrypter();
    for (const identity of identities) decrypter.addIdentity(identity);
    const fileKey = await decrypter.decryptHeader(header);
    yield* decryptPayload(startingWith(rest, source), payloadKey(fileKey, nonce));
  } finally {
    await source.return?.();
  }
}

type Header = { header: Uint8Array; fileKey: Uint8Array };

/** Makes a header by encrypting an empty file. A recipient of our own sees the key of the file, and adds nothing to the header. */
async function makeHeader(recipients: readonly string[]): Promise<Header> {
  // age would write a file that nobody can open.
  if (recipients.length === 0) throw new Error('an encrypted file needs a recipient');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  let fileKey: Uint8Array | undefined;
  encrypter.addRecipient({
    wrapFileKey: (key) => {
      fileKey = Uint8Array.from(key);
      return [];
    },
  });
  const empty = await encrypter.encrypt(new Uint8Array());
  if (!fileKey) throw new Error('age-encryption has not shown the key of the file');
  return { header: empty.subarray(0, empty.length - EMPTY_PAYLOAD_BYTES), fileKey };
}

type Start = { header: Buffer; nonce: Buffer; rest: Buffer };

/** Reads the header and the nonce of the payload, and returns the bytes that came with them too. */
async function readStart(source: AsyncIterator<Uint8Array>): Promise<Start> {
  let held = Buffer.alloc(0);
  for (;;) {
    const end = endOfHeader(held);
    const payloadAt = end === undefined ? Number.POSITIVE_INFINITY : end + PAYLOAD_NONCE_BYTES;
    if (held.length >= payloadAt)
      return {
        header: held.subarray(0, end),
        nonce: held.subarray(end, payloadAt),
        rest: held.subarray(payloadAt),
      };
    if (end === undefined && held.length > MAX_HEADER_BYTES) throw new Error('it has no header of age');
    const next = await source.next();
    if (next.done) throw new Error('it ends before its payload');
    held = Buffer.concat([held, next.value]);
  }
}

/** Returns the offset after the last line of a header, which begins with `---`; undefined before that line is complete. */
function endOfHeader(bytes: Buffer): number | undefined {
  const lastLineAt = bytes.indexOf('\n--- ');
  const end = lastLineAt === -1 ? -1 : bytes.indexOf('\n', lastLineAt + 1);
  return end === -1 ? undefined : end + 1;
}

async function* startingWith(
  first: Uint8Array,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
}
