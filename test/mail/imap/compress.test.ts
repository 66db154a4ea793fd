/** COMPRESS=DEFLATE (RFC 4978). */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { constants, createDeflateRaw, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import { CompressedStream } from '../../../src/mail/imap/compress.ts';
import { createEmptyMail } from '../../support/account-mail.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startServer } from './fixture.ts';

const FLUSHED = { finishFlush: constants.Z_SYNC_FLUSH };
const NOTHING_UNREAD = { octets: [], hasEnded: false };
const KIB = 1024;

test('COMPRESS is offered until it is active, and refuses what it does not know', async (t) => {
  const client = await (await startServer(t)).open();
  assert.deepEqual(await client.ask('COMPRESS'), ['BAD The command needs one more argument at octet 11']);
  assert.deepEqual(await client.ask('COMPRESS LZ4'), ['BAD DEFLATE is the only kind of compression']);
  assert.match((await client.ask('CAPABILITY')).join(), / COMPRESS=DEFLATE/);
  await client.compress();
  assert.doesNotMatch((await client.ask('CAPABILITY')).join(), /COMPRESS/);
  assert.deepEqual(await client.ask('COMPRESS DEFLATE'), ['BAD Compression is active already']);
});

test('COMPRESS needs a login, and a mailbox can have it turned off', async (t) => {
  const early = (await startServer(t)).dial();
  await early.line();
  assert.deepEqual(await early.ask('COMPRESS DEFLATE'), ['BAD The command needs a login']);
  const mail = await createEmptyMail({ disabledCapabilities: ['COMPRESS=DEFLATE'] });
  const client = await (await startServer(t, { mail })).open();
  assert.deepEqual(await client.ask('COMPRESS DEFLATE'), ['BAD Compression is not available']);
});

test('quirk 6: every octet of a compressed command is used as soon as it is there', async (t) => {
  const { client, received } = await openCompressed(await startServer(t));
  for (const finishFlush of [constants.Z_SYNC_FLUSH, constants.Z_PARTIAL_FLUSH]) {
    const before = received.length;
    for (const octet of deflateRawSync('x NOOP\r\n', { finishFlush })) client.socket.write(Buffer.of(octet));
    await waitUntil(() => received.length > before);
  }
  const answers = inflateRawSync(Buffer.concat(received), FLUSHED).toString();
  assert.equal(answers, 'x OK NOOP completed\r\nx OK NOOP completed\r\n');
});

test('a response is shorter when one like it was sent before', async (t) => {
  const server = await startServer(t);
  await server.mail.deliver('INBOX', 'Subject: one\r\n\r\nbody\r\n');
  const { client, received } = await openCompressed(server, 'SELECT INBOX');
  const sizes: number[] = [];
  for (let round = 0; round < 2; round++) {
    const before = Buffer.concat(received).length;
    client.socket.write(deflateRawSync('x FETCH 1 (FLAGS ENVELOPE BODYSTRUCTURE)\r\n', FLUSHED));
    await waitUntil(
      () => inflateRawSync(Buffer.concat(received), FLUSHED).toString().split('x OK').length > round + 1,
    );
    sizes.push(Buffer.concat(received).length - before);
  }
  const [first = 0, second = 0] = sizes;
  assert.ok(second < first / 2, `${sizes}`);
});

test('what is no DEFLATE ends the connection with BYE', async (t) => {
  const server = await startServer(t);
  const { client, received } = await openCompressed(server);
  client.send(Buffer.alloc(100, 0xff));
  await waitUntil(() => server.mail.openSessions === 0 && received.length > 0);
  const answer = inflateRawSync(Buffer.concat(received), FLUSHED).toString();
  assert.equal(answer, '* BYE The compressed data is malformed\r\n');
  assert.deepEqual(server.lines, []);
});

test('octets that expand a thousandfold are inflated only as fast as they are read', async (t) => {
  const [socket, peer] = duplexPair();
  const stream = new CompressedStream(socket, NOTHING_UNREAD, () => assert.fail('malformed'));
  t.after(() => stream.destroy());
  const sizeBytes = 4 * KIB * KIB;
  peer.end(deflateRawSync(Buffer.alloc(sizeBytes), FLUSHED));
  stream.once('readable', () => {});
  // Each of them takes the way of a piece that is inflated.
  for (let round = 0; round < 200; round++) await promisify(deflateRaw)('');
  assert.ok(stream.readableLength > 0 && stream.readableLength <= 128 * KIB, `${stream.readableLength}`);
  let readBytes = 0;
  for await (const chunk of stream) readBytes += (chunk as Buffer).length;
  assert.equal(readBytes, sizeBytes);
});

/** Opens a connection that is compressed from here on. `received` is what the server sends then, as it is on the wire. */
async function openCompressed(server: Awaited<ReturnType<typeof startServer>>, ...commands: string[]) {
  const client = await server.open(...commands);
  client.send('z COMPRESS DEFLATE\r\n');
  assert.equal(await client.line(), 'z OK DEFLATE active');
  return { client, received: collect(client.socket) };
}

function collect(socket: Socket): Buffer[] {
  const chunks: Buffer[] = [];
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  return chunks;
}

test('in IDLE the decompressor ends, and the next command may refer to those before', async () => {
  const [socket, peer] = duplexPair();
  const stream = new CompressedStream(socket, NOTHING_UNREAD, () => assert.fail('malformed'));
  const deflater = createDeflateRaw();
  deflater.on('data', (octets: Buffer) => void peer.write(octets));
  for (let round = 0; round < 3; round++) {
    const command = `x UID FETCH 1:* (FLAGS ENVELOPE BODYSTRUCTURE)\r\n${round}`;
    deflater.write(command);
    deflater.flush(constants.Z_SYNC_FLUSH);
    let text = '';
    while (text !== command) {
      text += stream.read() ?? '';
      if (text !== command) await new Promise((resolve) => stream.once('readable', resolve));
    }
    assert.equal(stream.hasInflater, true);
    stream.rest();
    assert.equal(stream.hasInflater, false);
  }
  stream.destroy();
});

test('the decompressor stays when the data does not end with a sync flush', async () => {
  const [socket, peer] = duplexPair();
  const stream = new CompressedStream(socket, NOTHING_UNREAD, () => assert.fail('malformed'));
  peer.write(deflateRawSync('x NOOP\r\n', { finishFlush: constants.Z_PARTIAL_FLUSH }));
  const [octets] = await once(stream, 'data');
  assert.equal(String(octets), 'x NOOP\r\n');
  stream.rest();
  assert.equal(stream.hasInflater, true);
  stream.destroy();
});

test('IDLE lets the decompressor rest', async (t) => {
  const rest = t.mock.method(CompressedStream.prototype, 'rest');
  const client = await (await startServer(t)).open('SELECT INBOX');
  await client.compress();
  assert.deepEqual(await client.ask('NOOP'), ['OK NOOP completed']);
  assert.equal(rest.mock.callCount(), 0);
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
  assert.ok(rest.mock.callCount() > 0);
});

test('a client that sends more than is read at once is stopped, and all of it arrives', async (t) => {
  const [socket, peer] = duplexPair();
  const stream = new CompressedStream(socket, NOTHING_UNREAD, () => assert.fail('malformed'));
  t.after(() => stream.destroy());
  const digests = Array.from({ length: 16 * KIB }, (_, index) => hash('sha256', `${index}`, 'buffer'));
  const octets = Buffer.concat(digests);
  const compressed = deflateRawSync(octets, FLUSHED);
  for (let at = 0; at < compressed.length; at += 32 * KIB) peer.write(compressed.subarray(at, at + 32 * KIB));
  peer.end();
  for (let round = 0; round < 100; round++) await promisify(deflateRaw)('');
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  assert.ok(octets.equals(Buffer.concat(chunks)));
});
