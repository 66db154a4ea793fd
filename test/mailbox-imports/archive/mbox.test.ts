import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { problemOfName } from '../../../src/accounts/folder.ts';
import { readArchive, UnknownArchiveError } from '../../../src/mailbox-imports/archive/read.ts';
import { NotMboxError, readMbox } from '../../../src/mailbox-imports/archive/read-mbox.ts';
import { createMboxWriter, type MboxSizes } from '../../../src/mailbox-imports/archive/write-mbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { addTo, collect, inPieces, type PlainMessage, plainMessage } from './messages.ts';

const FROM = 'From ann@example.net Fri Nov 21 09:05:00 2025\n';

/** Reads a file that is given as text. */
function read(text: string, cut?: number): Promise<PlainMessage[]> {
  return collect(readMbox(inPieces(text, cut), 'INBOX'));
}

/** Writes messages to a new archive. */
async function write(messages: readonly PlainMessage[], sizes: MboxSizes = new Map()): Promise<string> {
  const directory = temporaryDirectory('mbox');
  const writer = createMboxWriter(directory, sizes);
  for (const message of messages) await addTo(writer, message);
  await writer.flush();
  await writer.close();
  return directory;
}

test('messages are what stands between the lines that begin them', async () => {
  const [one, two, ...more] = await read(`${FROM}Subject: 1\n\nfirst\n\n${FROM}Subject: 2\n\nsecond\n\n\n`);
  assert.equal(one?.content, 'Subject: 1\r\n\r\nfirst\r\n');
  assert.equal(two?.content, 'Subject: 2\r\n\r\nsecond\r\n\r\n');
  assert.equal(one?.receivedAt, Date.UTC(2025, 10, 21, 9, 5));
  assert.notEqual(one?.key, two?.key);
  assert.deepEqual(more, []);
});

test('the lines of other programs begin messages, and sentences do not', async () => {
  const lines = {
    'From - Fri Nov 21 09:05:00 2025': Date.UTC(2025, 10, 21, 9, 5),
    'From 1563@xxx Fri Nov 21 09:05:00 +0000 2025': Date.UTC(2025, 10, 21, 9, 5),
    'From "A B"@example.net Sat Nov  1 09:05:00 2025': Date.UTC(2025, 10, 1, 9, 5),
    'From MAILER-DAEMON Fri Nov 21 09:05 CST 2025': Date.UTC(2025, 10, 21, 15, 5),
    'From ann@example.net Fri Nov 21 09:05:00 2025 +0100': Date.UTC(2025, 10, 21, 8, 5),
  };
  const body = 'From here it is a mile.\nFrom Mon to Fri\n';
  const found = await read(
    Object.keys(lines)
      .map((line) => `${line}\nSubject: x\n\n${body}\n`)
      .join(''),
  );
  assert.deepEqual(
    found.map(({ receivedAt }) => receivedAt),
    Object.values(lines),
  );
  for (const { content } of found) assert.equal(content, `Subject: x\n\n${body}`.replaceAll('\n', '\r\n'));
});

test('a file with CRLF line ends is read like any other', async () => {
  const text = `${FROM}Status: RO\nSubject: 1\n\nfirst\n\n${FROM}Subject: 2\n\n>From me\n\n`;
  assert.deepEqual(
    (await read(text.replaceAll('\n', '\r\n'))).map(({ content, flags }) => ({ content, flags })),
    (await read(text)).map(({ content, flags }) => ({ content, flags })),
  );
});

test('fields that keep flags are read and taken out, and the first of a name counts', async () => {
  const header = 'Status: O\nSubject: x\nX-Status: AF\nX-Keywords: todo,\n work\nstatus: R\nTo: y\n';
  const [message] = await read(`${FROM}${header}\nStatus: R\n\n`);
  assert.deepEqual(message?.flags, ['\\Answered', '\\Flagged', 'todo']);
  assert.equal(message?.content, 'Subject: x\r\nTo: y\r\n\r\nStatus: R\r\n');
});

test('a message that is not read, or read in part, is skipped', async () => {
  const content = 'x'.repeat(300_000);
  const seen: string[] = [];
  for await (const message of readMbox(inPieces(`${FROM}A: 1\n\n${content}\n\n${FROM}B: 2\n\n`), 'INBOX')) {
    for await (const piece of message.content) {
      seen.push(piece.toString('latin1', 0, 1));
      break;
    }
  }
  assert.deepEqual(seen, ['A', 'B']);
  const keys: string[] = [];
  for await (const { key } of readMbox(inPieces(`${FROM}A: 1\n\n${FROM}B: 2\n\n`), 'INBOX')) keys.push(key);
  assert.equal(keys.length, 2);
});

test('a file that is no mbox is refused, and an empty one has no messages', async () => {
  await assert.rejects(read('Subject: x\n\n'), NotMboxError);
  assert.deepEqual(await read(''), []);
  const directory = temporaryDirectory('no-mbox');
  writeFileSync(join(directory, 'notes.txt'), 'From my diary\n');
  await assert.rejects(collect(readArchive(directory)), UnknownArchiveError);
  await assert.rejects(collect(readArchive(join(directory, 'notes.txt'))), UnknownArchiveError);
});

test('what is written is read again, whatever the lines are', async () => {
  const line = fc.constantFrom(
    'From x',
    '>From x',
    '>>From',
    FROM.trim(),
    '',
    'a',
    '\u00ff',
    'y'.repeat(80_000),
  );
  const flags = fc.subarray([
    '\\Seen',
    '\\Answered',
    '\\Flagged',
    '\\Draft',
    '\\Deleted',
    'todo',
    '$Forwarded',
  ]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(line, { maxLength: 6 }), flags), { maxLength: 4 }),
      async (mails) => {
        const messages = mails.map(([lines, set]) =>
          plainMessage({ flags: set, content: ['Subject: x', '', ...lines, ''].join('\r\n') }),
        );
        const found = await collect(
          readArchive(join(await write([plainMessage(), ...messages]), 'INBOX.mbox')),
        );
        assert.deepEqual(
          found.map(({ content, flags: set }) => ({ content, flags: set.toSorted() })),
          [plainMessage(), ...messages].map(({ content, flags: set }) => ({
            content,
            flags: set.toSorted(),
          })),
        );
      },
    ),
    { numRuns: 25 },
  );
});

test('folders are files below one directory, whatever they are called', async () => {
  const names = ['INBOX', 'Lists/dev', 'Lists', '../out', '.hidden', '100%/.', 'Été'];
  const directory = await write(names.map((folder) => plainMessage({ folder })));
  const found = await collect(readArchive(directory));
  assert.deepEqual(found.map(({ folder }) => folder).sort(), names.toSorted());
  const below = await collect(readArchive(directory, 'Old'));
  assert.deepEqual(
    below.map(({ folder }) => folder).sort(),
    names.map((name) => (name === 'INBOX' ? 'Old' : `Old/${name}`)).sort(),
  );
});

test('a folder beside one that is called like its file, and folders with long names, are kept apart', async () => {
  const long = 'é'.repeat(200);
  const names = ['x', 'x.mbox/y', 'X.MBOX/z', `${long}1`, `${long}2/${long}3`, '100%2E'];
  const directory = await write(names.map((folder) => plainMessage({ folder })));
  const found = (await collect(readArchive(directory))).map(({ folder }) => folder);
  assert.deepEqual(found.filter((name) => name.length < 100).sort(), ['100%2E', 'X.MBOX/z', 'x', 'x.mbox/y']);
  assert.equal(new Set(found).size, names.length);
  assert.equal(found.filter((name) => /^é{116}~[0-9a-f]{16}$/.test(name)).length, 1);
});

test('folders are imported under names that mailboxes allow', async () => {
  const directory = temporaryDirectory('names');
  for (const path of [
    'inbox/inbox',
    'Inbox/work',
    ...['a', 'b'].map((end) => `${`${'n'.repeat(240)}/`.repeat(5)}${end}`),
  ]) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), `${FROM}A: 1\n\n`);
  }
  const found = (await collect(readArchive(directory))).map(({ folder }) => folder);
  assert.ok(found.every((name) => problemOfName(name) === undefined));
  assert.equal(new Set(found).size, 4);
  assert.ok(['INBOX/INBOX_', 'INBOX/work'].every((name) => found.includes(name)));
});

test('the folders of Thunderbird are read', async () => {
  const directory = temporaryDirectory('thunderbird');
  mkdirSync(join(directory, 'Lists.sbd'));
  for (const file of ['Inbox', 'Lists.sbd/dev']) writeFileSync(join(directory, file), `${FROM}A: 1\n\n`);
  writeFileSync(join(directory, 'Inbox.msf'), '// <!-- <mdb:mork:z v="1.4"/> -->');
  const found = await collect(readArchive(directory));
  assert.deepEqual(
    found.map(({ folder }) => folder),
    ['INBOX', 'Lists/dev'],
  );
});

test('what was not flushed is cut off before more is written', async () => {
  const sizes: MboxSizes = new Map();
  const directory = await write([plainMessage()], sizes);
  const path = join(directory, 'INBOX.mbox');
  const complete = readFileSync(path);
  writeFileSync(path, Buffer.concat([complete, Buffer.from('From ann@exam')]));
  const writer = createMboxWriter(directory, sizes);
  await addTo(writer, plainMessage({ key: 'V7U2' }));
  await writer.flush();
  await writer.close();
  assert.equal((await collect(readArchive(path))).length, 2);
  assert.equal(sizes.get('INBOX'), readFileSync(path).length);
});
