/** Attachments, uploads and downloads: from all kinds of bytes, of all sizes, as they are read. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { encodeBase64 } from '../src/attachments.ts';
import type { AttachmentContent } from '../src/index.ts';
import { EMAIL, isDeno, json, KEY, serve } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'postrider-node-'));
after(() => rmSync(folder, { recursive: true }));

const MIB = 1024 * 1024;

function bytesOf(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7 + (index >> 8)) & 255));
}

function slice(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('base64 of every length is that of Node', () => {
  for (const length of [0, 1, 2, 3, 4, 5, 255, 256, 257, 1000])
    assert.equal(Buffer.from(encodeBase64(bytesOf(length))).toString(), bytesOf(length).toString('base64'));
});

test('an attachment is the same from text, bytes, buffers, blobs, files and streams', async () => {
  const seen: { filename: string; content: string }[] = [];
  await using server = await serve((_, response, body) => {
    seen.push(...JSON.parse(body.toString()).attachments);
    json(response, { id: 'em_1', status: 'queued' });
  });
  const bytes = bytesOf(2 * MIB + 1);
  const path = join(folder, 'ä ü.bin');
  writeFileSync(path, bytes);
  const contents: AttachmentContent[] = [
    bytes.toString('base64'),
    bytes,
    new Uint8Array(bytes),
    slice(bytes),
    new Blob([slice(bytes)]),
    await openAsBlob(path),
    createReadStream(path),
    new Blob([slice(bytes)]).stream(),
    inPieces(bytes, 1000),
  ];
  for (const content of contents)
    await server.client().emails.send({ ...EMAIL, attachments: [{ filename: 'ä ü \ud800.bin', content }] });
  assert.deepEqual(
    seen.map(({ content }) => content === bytes.toString('base64')),
    contents.map(() => true),
  );
  assert.ok(seen.every(({ filename }) => filename.startsWith('ä ü ')));
});

test('attachments of a batch stay with their emails, and an empty file is empty', async () => {
  let body: { emails: { attachments?: { content?: string; path?: string }[] }[] } = { emails: [] };
  await using server = await serve((_, response, bytes) => {
    body = JSON.parse(bytes.toString());
    json(response, { data: [] });
  });
  const one = { ...EMAIL, attachments: [{ content: bytesOf(5) }, { path: 'https://x.test/a.pdf' }] };
  const two = { ...EMAIL, attachments: [{ content: new Uint8Array() }, { content: bytesOf(4) }] };
  await server.client().emails.sendBatch({ emails: [one, EMAIL, two] });
  const base64 = (length: number) => ({ content: bytesOf(length).toString('base64') });
  assert.deepEqual(
    body.emails.map(({ attachments }) => attachments),
    [[base64(5), { path: 'https://x.test/a.pdf' }], undefined, [base64(0), base64(4)]],
  );
});

test('an email with a stream is repeated with the same bytes', async () => {
  const bodies: string[] = [];
  await using server = await serve((_, response, body) => {
    bodies.push(body.toString());
    if (bodies.length === 1) response.destroy();
    else json(response, { id: 'em_1', status: 'queued' });
  });
  await server
    .client()
    .emails.send({ ...EMAIL, attachments: [{ content: inPieces(bytesOf(100_000), 999) }] });
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
});

test('a stream that fails, hangs or yields no bytes fails the call, and nothing is sent', async () => {
  let arrived = 0;
  await using server = await serve((_, response) => {
    arrived += 1;
    json(response, { id: 'em_1' });
  });
  const send = (content: AttachmentContent, deadlineMs = 5000) =>
    server.client().emails.send({ ...EMAIL, attachments: [{ content }] }, { deadlineMs });
  await assert.rejects(send(createReadStream(join(folder, 'absent'))), { type: 'invalid_argument' });
  await assert.rejects(send(new ReadableStream(), 100), { type: 'timeout' });
  const texts = (async function* () {
    yield 'text' as unknown as Uint8Array;
  })();
  await assert.rejects(send(texts), { type: 'invalid_argument' });
  assert.equal(arrived, 0);
});

test('a file of contacts is the same from text, bytes, files and streams', async () => {
  const seen: string[] = [];
  await using server = await serve((request, response, body) => {
    seen.push(`${request.headers['content-type']} ${body}`);
    json(response, { id: 'imp_1' }, 202);
  });
  const text = 'email\nänn@x.test\n';
  const bytes = Buffer.from(text);
  const files = [text, bytes, slice(bytes), new Blob([text], { type: 'text/plain' }), inPieces(bytes, 3), ''];
  for (const file of files)
    await server.client().contacts.importCsv('aud_1', file, { dryRun: true } as never);
  assert.deepEqual(seen, [...files.slice(1).map(() => `text/csv ${text}`), 'text/csv ']);
});

test('a download arrives part by part, and as a whole', async () => {
  let goOn: () => void = () => undefined;
  await using server = await serve(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('a,');
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    response.end('ü');
  });
  const file = await server.client().exports.getFile('exp_1');
  assert.equal(file.contentType, 'text/csv');
  const parts: string[] = [];
  for await (const part of file) {
    parts.push(Buffer.from(part).toString());
    goOn();
  }
  assert.deepEqual(parts, ['a,', 'ü']);
});

test('a download that stands still meets the time of a part, and one that moves does not', async () => {
  await using server = await serve(async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' });
    for (let i = 0; i < 8; i += 1) {
      response.write('a');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (request.url?.includes('whole')) response.end();
  });
  const client = server.client({ timeoutMs: 500, deadlineMs: 500 });
  assert.equal(await (await client.exports.getFile('whole')).text(), 'aaaaaaaa');
  await assert.rejects((await client.exports.getFile('hangs')).text(), { type: 'timeout' });
});

test('a download that is left early, canceled or cut off keeps no connection', async () => {
  await using server = await serve((request, response) => {
    response.writeHead(200, { 'content-length': '1000000' }).write('a'.repeat(1000));
    if (request.url?.includes('cut')) setTimeout(() => response.destroy(), 20);
  });
  const { exports } = server.client();
  for await (const _ of await exports.getFile('left')) break;
  await (await exports.getFile('canceled')).cancel();
  await assert.rejects((await exports.getFile('cut')).bytes(), { type: 'connection_error' });
  while (server.openConnections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

/** Deno reads the whole file for `openAsBlob`. */
const KINDS = isDeno ? ['bytes'] : ['file', 'bytes'];
const noMemory = process.platform !== 'linux' && 'it needs the proc file system';

test('an attachment of 25 MiB takes at most three times its size', {
  timeout: 60_000,
  skip: noMemory,
}, async () => {
  let size = 0;
  await using server = await serve((_, response, body) => {
    size = body.length;
    json(response, { id: 'em_1', status: 'queued' });
  });
  const file = join(folder, 'large.bin');
  writeFileSync(file, new Uint8Array(25 * MIB).fill(65));
  for (const kind of KINDS) {
    const child = spawn(process.execPath, ['test/measure.mjs', 'attachment', kind, file], {
      env: { ...process.env, SERVICE_BASE_URL: server.baseUrl, SERVICE_API_KEY: KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    for await (const part of child.stdout) output += part;
    const { bytes } = JSON.parse(output) as { bytes: number };
    assert.ok(size > (25 * MIB * 4) / 3);
    assert.ok(bytes <= 3 * 25 * MIB, `${kind}: ${(bytes / MIB).toFixed(1)} MiB`);
  }
});
