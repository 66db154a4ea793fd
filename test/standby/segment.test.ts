import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { packTar } from 'modern-tar';
import { encryptAge } from '../../src/backups/age.ts';
import type { ChangedPages } from '../../src/db/changed-pages.ts';
import type { Cut } from '../../src/standby/cut.ts';
import { encodePages } from '../../src/standby/segment/pages-entry.ts';
import { type ExpectedSegment, readSegment, VERIFYING } from '../../src/standby/segment/read.ts';
import { boundArchive, type Segment, writeSegment } from '../../src/standby/segment/write.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const identity = await generateX25519Identity();
const recipients = [await identityToRecipient(identity)];
const folder = temporaryDirectory('segments');

const CUT: Cut = {
  format: 1,
  installation: 'inst',
  generation: '20261130T155301Z-0a1b2c3d',
  sequence: 7,
  takenAt: 1_000,
  previous: 'a'.repeat(64),
};

function pagesOf(numbers: number[], pageBytes = 512, databasePages = 1_000): ChangedPages {
  const contents = new Uint8Array(new ArrayBuffer(numbers.length * pageBytes));
  contents.set(randomBytes(contents.length));
  return { pageBytes, databasePages, numbers: Uint32Array.from(numbers), contents };
}

const contentPath = (bytes: Buffer) => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return `blobs/${sha256.slice(0, 2)}/${sha256}`;
};

const opening = { identities: [identity], expected: CUT };

type Collected = { pages: [string, number, number, Map<number, Buffer>][]; files: [string, Buffer][] };

/** Reads a segment, and returns all that it has. */
async function collect(bytes: Buffer, expected: ExpectedSegment = CUT) {
  const found: Collected = { pages: [], files: [] };
  const cut = await readSegment(
    piecesOf(bytes),
    { identities: [identity], expected },
    {
      async pages(path, { pageBytes, databasePages, pages }) {
        const contents = new Map<number, Buffer>();
        for await (const page of pages) contents.set(page.number, Buffer.from(page.bytes));
        found.pages.push([path, pageBytes, databasePages, contents]);
      },
      async file(path, pieces) {
        const all: Uint8Array[] = [];
        for await (const piece of pieces) all.push(piece);
        found.files.push([path, Buffer.concat(all)]);
      },
    },
  );
  return { cut, ...found };
}

async function* piecesOf(bytes: Buffer, pieceBytes = 10_000) {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

let written = 0;
async function write(segment: Segment): Promise<Buffer> {
  const to = join(folder, `segment-${written++}`);
  const { sha256, bytes } = await writeSegment(segment, recipients, to);
  const file = readFileSync(to);
  assert.equal(file.length, bytes);
  assert.equal(createHash('sha256').update(file).digest('hex'), sha256);
  return file;
}

type Entry = { name: string; body?: Uint8Array | string; type?: 'file' | 'symlink'; linkname?: string };

/** Makes a segment by hand, as anybody can who knows the public key. */
async function forge(entries: Entry[]): Promise<Buffer> {
  const tar = await packTar(
    entries.map(({ name, body = '', type = 'file', linkname = '' }) => ({
      header: { name, size: Buffer.from(body).length, type, linkname },
      body,
    })),
  );
  const pieces: Buffer[] = [];
  for await (const piece of encryptAge(piecesOf(zstdCompressSync(tar)), recipients)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const CUT_ENTRY = { name: 'cut.json', body: JSON.stringify(CUT) };

test('a segment is read as it was written', async () => {
  const large = randomBytes(300_000);
  const from = join(folder, 'large');
  writeFileSync(from, large);
  writeFileSync(join(folder, 'empty'), '');
  const many = pagesOf(Array.from({ length: 200 }, (_, index) => 200 - index));
  const account = pagesOf([3], 4_096, 5);
  const file = await write({
    cut: CUT,
    databases: [
      { path: 'postrider.db', pages: many },
      { path: 'mailboxes/mbx_abc123/index.db', pages: account },
      { path: 'mailboxes/mbx_abc124/index.db', pages: pagesOf([]) },
    ],
    files: [
      { path: contentPath(large), from },
      { path: 'tls/empty.pem', from: join(folder, 'empty') },
      { path: 'tls/gone.pem', from: join(folder, 'gone') },
    ],
  });
  assert.match(file.toString('latin1', 0, 30), /^age-encryption\.org\/v1\n/);
  const found = await collect(file);
  assert.deepEqual(found.cut, CUT);
  const [main, other, unchanged] = found.pages;
  assert.deepEqual(main?.slice(0, 3), ['postrider.db', 512, 1_000]);
  assert.equal(main?.[3].size, 200);
  for (const [index, number] of many.numbers.entries())
    assert.ok(main?.[3].get(number)?.equals(many.contents.subarray(index * 512, (index + 1) * 512)));
  assert.deepEqual(other?.slice(0, 3), ['mailboxes/mbx_abc123/index.db', 4_096, 5]);
  assert.ok(other?.[3].get(3)?.equals(account.contents));
  assert.equal(unchanged?.[3].size, 0);
  assert.deepEqual(
    found.files.map(([path, bytes]) => [path, bytes.length]),
    [
      [contentPath(large), large.length],
      ['tls/empty.pem', 0],
    ],
  );
  assert.ok(found.files[0]?.[1].equals(large));
});

test('a segment of another place in the order, or of another installation, is refused', async () => {
  const file = await write({ cut: CUT, databases: [], files: [] });
  const others: Partial<ExpectedSegment>[] = [
    { sequence: 8 },
    { installation: 'other' },
    { generation: '20261130T155301Z-0a1b2c3e' },
    { previous: 'b'.repeat(64) },
    { previous: null },
  ];
  for (const other of others)
    await assert.rejects(collect(file, { ...CUT, ...other }), {
      name: 'StandbyError',
      message: /cannot be applied: its \w+ is .* has to follow$/,
    });
});

test('a segment that was changed or cut off anywhere is refused', async () => {
  const from = join(folder, 'kept');
  writeFileSync(from, randomBytes(200_000));
  const databases = [{ path: 'postrider.db', pages: pagesOf([1, 2]) }];
  const file = await write({ cut: CUT, databases, files: [{ path: 'tls/kept', from }] });
  for (const at of [0, 100, 1_000, 90_000, file.length - 1]) {
    const changed = Buffer.from(file);
    changed[at] = 1 ^ (changed[at] ?? 0);
    await assert.rejects(collect(changed), { name: 'StandbyError' }, `changed at ${at}`);
    await assert.rejects(collect(file.subarray(0, at)), { name: 'StandbyError' }, `cut off at ${at}`);
  }
  await assert.rejects(readSegment(createReadStream(join(folder, 'segment-absent')), opening, VERIFYING), {
    code: 'ENOENT',
  });
});

test('entries that no segment has are refused', async () => {
  const pages = Buffer.concat([...encodePages(pagesOf([1, 2]))]);
  const damaged = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(pages);
    change(bytes);
    return [{ name: 'pages/postrider.db', body: bytes }, CUT_ENTRY];
  };
  const forged: Record<string, Entry[]> = {
    'no cut': [{ name: 'files/tls/a', body: 'a' }],
    'entry after its cut': [CUT_ENTRY, { name: 'files/tls/a', body: 'a' }],
    'a second cut': [CUT_ENTRY, CUT_ENTRY],
    'a path that leads out': [{ name: 'files/../a', body: 'a' }, CUT_ENTRY],
    'an absolute path': [{ name: 'files//etc/a', body: 'a' }, CUT_ENTRY],
    'a database as a file': [{ name: 'files/postrider.db-wal', body: 'a' }, CUT_ENTRY],
    'who the host is': [{ name: 'files/standby/owner.json', body: 'a' }, CUT_ENTRY],
    'that it was restored': [{ name: 'files/restored.json', body: 'a' }, CUT_ENTRY],
    'the lock': [{ name: 'files/lock.db', body: 'a' }, CUT_ENTRY],
    'pages of no database': [{ name: 'pages/tls/a', body: pages }, CUT_ENTRY],
    'pages outside': [{ name: 'pages/mailboxes/mbx_a/../../b/index.db', body: pages }, CUT_ENTRY],
    'another name': [{ name: 'postrider.db', body: 'a' }, CUT_ENTRY],
    'a link': [{ name: 'files/a', type: 'symlink', linkname: '/etc/passwd' }, CUT_ENTRY],
    'a wrong hash': [{ name: `files/blobs/aa/${'a'.repeat(64)}`, body: 'a' }, CUT_ENTRY],
    'a damaged cut': [{ name: 'cut.json', body: '{"format":1}' }],
    'a cut that is no JSON': [{ name: 'cut.json', body: 'x' }],
    'a large cut': [{ name: 'cut.json', body: `${JSON.stringify(CUT)}${' '.repeat(5_000)}` }],
    'another form of pages': damaged((bytes) => bytes.writeUInt32BE(2, 4)),
    'a size that is none': damaged((bytes) => bytes.writeUInt32BE(500, 8)),
    'more pages than there are bytes': damaged((bytes) => bytes.writeUInt32BE(3, 16)),
    'fewer pages than there are bytes': damaged((bytes) => bytes.writeUInt32BE(1, 16)),
    'a page beyond the end': damaged((bytes) => bytes.writeUInt32BE(1_001, 20)),
    'page 0': damaged((bytes) => bytes.writeUInt32BE(0, 20)),
  };
  for (const [name, entries] of Object.entries(forged))
    await assert.rejects(collect(await forge(entries)), { name: 'StandbyError' }, name);
  await collect(await forge([{ name: 'pages/postrider.db', body: pages }, CUT_ENTRY]));
});

test('a segment that no reader would take is not written', async () => {
  const readAll = async (maxBytes: number) => {
    let bytes = 0;
    for await (const piece of boundArchive(maxBytes)(piecesOf(Buffer.alloc(25_000)))) bytes += piece.length;
    return bytes;
  };
  assert.equal(await readAll(25_000), 25_000);
  await assert.rejects(readAll(24_999), /a segment of more than 24999 bytes cannot be shipped/);
});

test('an error of whoever applies a segment is passed on', async () => {
  const file = await write({
    cut: CUT,
    databases: [{ path: 'postrider.db', pages: pagesOf([1]) }],
    files: [],
  });
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const failing = { ...VERIFYING, pages: () => Promise.reject(full) };
  await assert.rejects(readSegment(piecesOf(file), opening, failing), full);
  await assert.rejects(
    writeSegment({ cut: CUT, databases: [], files: [] }, [], join(folder, 'unreadable')),
    /needs a recipient/,
  );
  assert.ok(existsSync(folder));
});
