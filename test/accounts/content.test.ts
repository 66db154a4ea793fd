import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addMessages } from '../../src/accounts/add.ts';
import {
  contentChunks,
  discard,
  INLINE_BYTES,
  type PreparedContent,
  prepareContent,
  readContent,
  readHeader,
  readRange,
} from '../../src/accounts/content.ts';
import { findContent } from '../../src/accounts/content-store.ts';
import { contentFolder } from '../../src/accounts/folder.ts';
import { DamagedBlobError } from '../../src/blobs/damaged.ts';
import { pathOf } from '../../src/blobs/files.ts';
import { PARSER_VERSION, readMailboxMessage } from '../../src/mail/mailbox-message/read.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createAccountApp, messageOf, openTestAccount, START_MS } from '../support/test-account.ts';
import { waitUntil } from '../support/wait-until.ts';

const account = await openTestAccount();
after(() => account.close());

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const fileOf = (bytes: Buffer) => pathOf(contentFolder(account.folder), sha256(bytes));

/** Adds a content and returns its id. */
async function add(content: PreparedContent): Promise<number> {
  const internalDate = { atMs: START_MS, zoneMinutes: 0 };
  const message = { content, flags: 0, keywords: [], internalDate };
  const added = await addMessages(account, { folder: 'INBOX', messages: [message] });
  assert.ok('contentIds' in added);
  return added.contentIds[0]!;
}

async function* inPieces(bytes: Buffer, size = 10_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

for (const [name, size] of [
  ['a small content', 2_000],
  ['a content in a file', INLINE_BYTES + 5_000],
] as const) {
  test(`${name} is read as it was stored, as a whole and in ranges`, async () => {
    const bytes = messageOf(name, size);
    const id = await add(await prepareContent(account, inPieces(bytes)));
    assert.deepEqual(await readContent(account, id), bytes);
    const headerEnd = bytes.indexOf('\r\n\r\n') + 4;
    assert.deepEqual(await readHeader(account, id), bytes.subarray(0, headerEnd));
    for (const [start, end] of [
      [0, bytes.length],
      [3, headerEnd],
      [headerEnd - 2, headerEnd + 100],
      [bytes.length - 10, bytes.length],
      [5, 5],
    ] as const)
      assert.deepEqual(await readRange(account, id, { start, end }), bytes.subarray(start, end), `${start}`);
    assert.equal(existsSync(fileOf(bytes)), size > INLINE_BYTES);
  });
}

test('what clients ask for is stored with the content', async () => {
  const bytes = Buffer.from(
    'From: Jörg <j@test.example>\r\nSubject: Re: Hello\r\nMessage-ID: <1@x>\r\nReferences: <0@x>\r\n\r\nHi there.\r\n',
  );
  const id = await add(await prepareContent(account, [bytes]));
  const read = await readMailboxMessage(bytes);
  const { crc32, ...row } = (await findContent(account.db.read, id))!;
  assert.ok(crc32 > 0);
  assert.deepEqual(row, {
    id,
    sizeBytes: bytes.length,
    blobSha256: null,
    parserVersion: PARSER_VERSION,
    isOpaque: 0,
    root: JSON.stringify(read.root),
    envelope: read.envelope.ascii,
    envelopeUtf8: read.envelope.utf8,
    body: read.body.ascii,
    bodyUtf8: read.body.utf8,
    bodyStructure: read.bodyStructure.ascii,
    bodyStructureUtf8: read.bodyStructure.utf8,
    sort: JSON.stringify(read.sort),
    messageId: '1@x',
    references: '["0@x"]',
    preview: 'Hi there.',
  });
  assert.ok(row.envelopeUtf8?.includes('Jörg'), String(row.envelopeUtf8));
});

test('a file that exists is linked, not copied; a small one is copied into the database', async () => {
  const directory = temporaryDirectory('source');
  for (const [size, links] of [
    [INLINE_BYTES + 1_000, 2],
    [1_000, 1],
  ] as const) {
    const bytes = messageOf(`linked ${size}`, size);
    const path = join(directory, `${size}`);
    writeFileSync(path, bytes);
    const id = await add(await prepareContent(account, { path, sha256: sha256(bytes) }));
    assert.deepEqual(await readContent(account, id), bytes);
    assert.equal(statSync(path).nlink, links);
  }
});

test('a file to link that holds other bytes is refused', async () => {
  const path = join(temporaryDirectory('source'), 'x');
  writeFileSync(path, messageOf('other', INLINE_BYTES + 1_000));
  await assert.rejects(prepareContent(account, { path, sha256: '0'.repeat(64) }), DamagedBlobError);
});

test('a content that is discarded leaves no file, unless another one has the same', async () => {
  const bytes = messageOf('discarded', INLINE_BYTES + 2_000);
  const first = await prepareContent(account, [bytes]);
  const second = await prepareContent(account, [bytes]);
  await discard(account, first);
  assert.ok(existsSync(fileOf(bytes)));
  const id = await add(second);
  await discard(account, await prepareContent(account, [bytes]));
  assert.deepEqual(await readContent(account, id), bytes);
  const alone = messageOf('discarded alone', INLINE_BYTES + 2_000);
  await discard(account, await prepareContent(account, [alone]));
  assert.equal(existsSync(fileOf(alone)), false);
});

test('a source that fails, and a parser that fails, leave no file', async () => {
  const bytes = messageOf('fails', INLINE_BYTES + 2_000);
  async function* failing() {
    yield bytes;
    throw new Error('the client went away');
  }
  await assert.rejects(prepareContent(account, failing()), /went away/);
  const app = createAccountApp({ parser: { read: () => Promise.reject(new Error('busy')) } });
  await assert.rejects(prepareContent({ ...account, app }, [bytes]), /busy/);
  assert.equal(existsSync(fileOf(bytes)), false);
  assert.deepEqual(readdirSync(join(contentFolder(account.folder), 'partial')), []);
});

test('flipped bytes of a content in the database are noticed when it is read', async () => {
  const bytes = messageOf('flipped');
  const id = await add(await prepareContent(account, [bytes]));
  await account.db.maintain((connection) =>
    connection
      .prepare("UPDATE contentBytes SET body = CAST('y' || substr(body, 2) AS BLOB) WHERE contentId = ?")
      .run(id),
  );
  await assert.rejects(readContent(account, id), DamagedBlobError);
  await assert.rejects(readRange(account, id, { start: 0, end: bytes.length }), DamagedBlobError);
});

test('flipped, missing and removed bytes of a file are noticed before its last bytes are sent', async () => {
  const bytes = messageOf('flipped file', INLINE_BYTES * 4);
  const id = await add(await prepareContent(account, [bytes]));
  const path = fileOf(bytes);
  const changed = Buffer.from(readFileSync(path));
  changed[10] = changed[10]! ^ 1;
  writeFileSync(path, changed);
  const sent: Buffer[] = [];
  await assert.rejects(async () => {
    for await (const chunk of contentChunks(account, id)) sent.push(chunk);
  }, DamagedBlobError);
  assert.ok(Buffer.concat(sent).length < bytes.length);
  truncateSync(path, 70_000);
  await assert.rejects(readContent(account, id), DamagedBlobError);
  await assert.rejects(readRange(account, id, { start: 60_000, end: 80_000 }), DamagedBlobError);
  rmSync(path);
  await assert.rejects(readContent(account, id), DamagedBlobError);
  await assert.rejects(readRange(account, id, { start: 60_000, end: 80_000 }), DamagedBlobError);
});

test('a few large messages are in memory at once, and small ones do not wait for them', async () => {
  const released = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const app = createAccountApp({
    parser: {
      async read(octets) {
        if (octets.length <= INLINE_BYTES) return await readMailboxMessage(octets);
        most = Math.max(most, ++running);
        await released.promise;
        running--;
        return await readMailboxMessage(octets);
      },
    },
  });
  const busy = await openTestAccount(app);
  const large = (number: number) => messageOf(`large${number}`, 2 * INLINE_BYTES);
  const all = Array.from({ length: 6 }, (_, number) => prepareContent(busy, inPieces(large(number))));
  await waitUntil(() => running === 4);
  await prepareContent(busy, inPieces(messageOf('small')));
  assert.equal(most, 4);
  released.resolve();
  for (const content of await Promise.all(all)) await discard(busy, content);
  assert.equal(most, 4);
  await busy.close();
});
