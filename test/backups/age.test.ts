import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { decryptAge, encryptAge } from '../../src/backups/age.ts';
import { decryptPayload } from '../../src/backups/age-payload.ts';

const CHUNK = 64 * 1024;
const ENCRYPTED_CHUNK = CHUNK + 16;
/** Sizes about the borders of chunks. */
const SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7];

const identity = await generateX25519Identity();
const other = await generateX25519Identity();
const recipient = await identityToRecipient(identity);

/** Yields bytes in pieces of a size. */
async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

const encrypt = (plain: Uint8Array, pieceBytes = 50_000, recipients = [recipient]) =>
  collect(encryptAge(inPieces(plain, pieceBytes), recipients));
const decrypt = (encrypted: Uint8Array, pieceBytes = 50_000, identities = [identity]) =>
  collect(decryptAge(inPieces(encrypted, pieceBytes), identities));

/** Encrypts chunks of random bytes, and returns the file in its parts. */
async function encryptedParts(chunks: number) {
  const file = await encrypt(randomBytes(chunks * CHUNK));
  const payloadAt = file.length - chunks * ENCRYPTED_CHUNK;
  const parts = Array.from({ length: chunks }, (_, index) =>
    file.subarray(payloadAt + index * ENCRYPTED_CHUNK, payloadAt + (index + 1) * ENCRYPTED_CHUNK),
  );
  return { start: file.subarray(0, payloadAt), parts };
}

test('the package opens what is encrypted here, and the other way round, at each border of a chunk', async () => {
  for (const size of SIZES) {
    const plain = randomBytes(size);
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    assert.ok(plain.equals(await decrypter.decrypt(await encrypt(plain))), `encrypted here: ${size}`);
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    const encrypted = await encrypter.encrypt(plain);
    assert.ok(plain.equals(await decrypt(encrypted)), `encrypted by the package: ${size}`);
    assert.equal((await encrypt(plain)).length, encrypted.length);
  }
});

test('the pieces in which bytes arrive make no difference, and each recipient opens the file', async () => {
  const recipients = [await identityToRecipient(other), recipient];
  for (const pieceBytes of [1, 1_000, CHUNK, 10 * CHUNK]) {
    const plain = randomBytes(pieceBytes === 1 ? 100 : CHUNK + 3);
    const encrypted = await encrypt(plain, pieceBytes, recipients);
    assert.ok(plain.equals(await decrypt(encrypted, pieceBytes)));
    assert.ok(plain.equals(await decrypt(encrypted, pieceBytes, [other])));
  }
});

test('two files of the same bytes have nothing in common', async () => {
  const plain = Buffer.alloc(CHUNK);
  const [first, second] = [await encrypt(plain), await encrypt(plain)];
  assert.notDeepEqual(first.subarray(-CHUNK), second.subarray(-CHUNK));
});

test('chunks that were changed, moved, left out or cut off are refused', async () => {
  const { start, parts } = await encryptedParts(3);
  const [a = start, b = start, c = start] = parts;
  assert.equal((await decrypt(Buffer.concat([start, a, b, c]))).length, 3 * CHUNK);
  const flipped = Buffer.from(b);
  flipped[100] = 1 ^ (flipped[100] ?? 0);
  const damaged = {
    changed: [start, a, flipped, c],
    moved: [start, b, a, c],
    repeated: [start, a, a, b, c],
    'left out': [start, a, c],
    'the last one cut off': [start, a, b],
    'within a chunk': [start, a, b, c.subarray(0, -1)],
    'within a tag': [start, a, b, c.subarray(0, 15)],
    'all chunks cut off': [start],
    'something added': [start, a, b, c, Buffer.from('x')],
    'an empty chunk added': [start, a, b, c, Buffer.alloc(16)],
  };
  for (const [name, pieces] of Object.entries(damaged))
    await assert.rejects(decrypt(Buffer.concat(pieces)), /chunk|cut off/, name);
});

test('an empty chunk after others is refused, also when it was encrypted with the key', async () => {
  const key = randomBytes(32);
  const encryptChunk = (bytes: Buffer, nonce: Buffer) => {
    const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  };
  const chunks = [
    encryptChunk(Buffer.alloc(CHUNK), Buffer.alloc(12)),
    encryptChunk(Buffer.alloc(0), Buffer.from('000000000000000000000101', 'hex')),
  ];
  const decrypted = collect(decryptPayload(inPieces(Buffer.concat(chunks), CHUNK), key));
  await assert.rejects(decrypted, /last chunk is empty/);
});

test('a header that is damaged, endless or cut off is refused', async () => {
  const { start, parts } = await encryptedParts(1);
  const rest = Buffer.concat(parts);
  const version = Buffer.concat([
    Buffer.from(start.toString('latin1').replace('/v1', '/v2'), 'latin1'),
    rest,
  ]);
  await assert.rejects(decrypt(version), /invalid version/);
  const mac = Buffer.from(start);
  const macAt = start.indexOf('\n--- ') + 5;
  mac[macAt] = mac[macAt] === 65 ? 66 : 65;
  await assert.rejects(decrypt(Buffer.concat([mac, rest])), /HMAC/);
  await assert.rejects(decrypt(Buffer.alloc(1_000_000, 'x')), /no header/);
  for (const length of [0, 30, macAt, start.length - 1])
    await assert.rejects(decrypt(start.subarray(0, length)), /ends before its payload/);
});

test('a file is neither made without a recipient nor opened with another key', async () => {
  await assert.rejects(encrypt(Buffer.from('x'), 1, []), /needs a recipient/);
  const file = await encrypt(Buffer.from('x'));
  await assert.rejects(decrypt(file, 1, [other]), /no identity matched/);
  await assert.rejects(decrypt(file, 1, []), /no identity matched/);
});

test('the source of a stream is closed when nobody reads the rest of it', async () => {
  let isClosed = false;
  const file = await encrypt(randomBytes(4 * CHUNK));
  async function* source() {
    try {
      yield* inPieces(file, 1_000);
    } finally {
      isClosed = true;
    }
  }
  for await (const piece of decryptAge(source(), [identity])) {
    assert.equal(piece.length, CHUNK);
    break;
  }
  assert.ok(isClosed);
});
