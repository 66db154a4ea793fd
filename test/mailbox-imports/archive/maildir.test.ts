import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { readArchive } from '../../../src/mailbox-imports/archive/read.ts';
import { readMaildir } from '../../../src/mailbox-imports/archive/read-maildir.ts';
import { createMaildirWriter } from '../../../src/mailbox-imports/archive/write-maildir.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { addTo, collect, type PlainMessage, plainMessage } from './messages.ts';

const TEXT = 'Subject: x\n\nhello\n';

/** Creates a maildir with these files, by their paths. */
function maildir(files: readonly string[]): string {
  const root = temporaryDirectory('maildir');
  for (const file of files) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), TEXT);
    utimesSync(join(root, file), 1_700_000_000, 1_700_000_000);
  }
  return root;
}

async function write(root: string, messages: readonly PlainMessage[]): Promise<void> {
  const writer = createMaildirWriter(root, 'mail.example.com');
  for (const message of messages) await addTo(writer, message);
  await writer.flush();
  await writer.close();
}

function described({ folder, flags, content, receivedAt }: PlainMessage) {
  return { folder, flags: flags.toSorted(), content, receivedAt };
}

test('flags, keywords, dates and folders of Maildir++ are read', async () => {
  const root = maildir([
    'cur/2.b.host:2,FS',
    'cur/1.a.host:2,Rab',
    'new/3.c.host',
    '.Lists.dev/cur/4.d.host;2,PT',
    '.&AMk-t&AOk-/cur/5.e.host:2,',
    '.Empty/cur/.keep',
    'tmp/6.f.host',
  ]);
  writeFileSync(join(root, 'dovecot-keywords'), '0 todo\n1 $Label1\n');
  const found = await collect(readMaildir(root));
  assert.deepEqual(
    found.map(({ folder, key, flags }) => [folder, key, ...flags]),
    [
      ['INBOX', '1.a.host', '\\Answered', 'todo', '$Label1'],
      ['INBOX', '2.b.host', '\\Flagged', '\\Seen'],
      ['INBOX', '3.c.host'],
      ['Été', '5.e.host'],
      ['Lists/dev', '4.d.host', '$Forwarded', '\\Deleted'],
    ],
  );
  for (const { content, receivedAt } of found) {
    assert.equal(content, TEXT.replaceAll('\n', '\r\n'));
    assert.equal(receivedAt, 1_700_000_000_000);
  }
});

test('folders in directories of their own are read', async () => {
  const root = maildir(['Inbox/cur/1:2,', 'Lists/dev/cur/2:2,', 'Lists/cur/3:2,', 'notes/4']);
  const found = await collect(readArchive(root));
  assert.deepEqual(
    found.map(({ folder, key }) => [folder, key]),
    [
      ['INBOX', '1'],
      ['Lists', '3'],
      ['Lists/dev', '2'],
    ],
  );
});

test('a message whose flags change meanwhile is read, and one that is deleted is left out', async () => {
  const root = maildir(['cur/1:2,', 'cur/2:2,', 'cur/3:2,', 'new/4']);
  const found: string[] = [];
  for await (const { key, flags } of readMaildir(root)) {
    found.push([key, ...flags].join(' '));
    if (key !== '1') continue;
    renameSync(join(root, 'cur/2:2,'), join(root, 'cur/2:2,S'));
    rmSync(join(root, 'cur/3:2,'));
    renameSync(join(root, 'new/4'), join(root, 'cur/4:2,F'));
  }
  assert.deepEqual(found, ['1', '2 \\Seen', '4 \\Flagged']);
});

test('what is written is read again', async () => {
  const flags = fc.subarray([
    '\\Seen',
    '\\Answered',
    '\\Flagged',
    '\\Draft',
    '\\Deleted',
    'todo',
    '$Forwarded',
    'b',
  ]);
  const folder = fc.constantFrom('INBOX', 'Lists/dev', 'Été', 'A&B');
  const line = fc.constantFrom('', 'a', '\u00ff', 'y\rz', 'From x', 'z'.repeat(999));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(folder, flags, fc.array(line, { maxLength: 5 })), { maxLength: 6 }),
      async (mails) => {
        const root = temporaryDirectory('maildir');
        const messages = mails.map(([name, set, lines], index) =>
          plainMessage({
            folder: name,
            key: `V7U${index}`,
            flags: set,
            content: `A: b\r\n\r\n${lines.join('\r\n')}`,
          }),
        );
        await write(root, messages);
        const found = mails.length === 0 ? [] : await collect(readArchive(root));
        assert.deepEqual(
          found.map(described).sort((one, other) => compare(one, other)),
          messages.map(described).sort((one, other) => compare(one, other)),
        );
      },
    ),
    { numRuns: 25 },
  );
});

function compare(one: object, other: object): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

test('a message that is there already is not written again, also when its flags have changed', async () => {
  const root = temporaryDirectory('maildir');
  await write(root, [plainMessage()]);
  const [name = ''] = readdirSync(join(root, 'cur'));
  renameSync(join(root, 'cur', name), join(root, 'cur', `${name}F`));
  await write(root, [plainMessage(), plainMessage({ key: 'V7U2', flags: ['\\Seen'] })]);
  const found = await collect(readArchive(root));
  assert.deepEqual(
    found.map(({ flags }) => flags),
    [['\\Flagged'], ['\\Seen']],
  );
});

test('a message has no name in its folder before it is durable', async () => {
  const root = temporaryDirectory('maildir');
  const writer = createMaildirWriter(root, 'mail.example.com');
  await addTo(writer, plainMessage());
  assert.deepEqual(readdirSync(join(root, 'cur')), []);
  await writer.close();
  assert.deepEqual(readdirSync(join(root, 'tmp')), []);
});

test('folders with long names are shortened, and kept apart', async () => {
  const root = temporaryDirectory('maildir');
  const names = ['1', '2'].map((end) => `${'level/'.repeat(50)}${end}`);
  for (const folder of names) await write(root, [plainMessage({ folder })]);
  const found = (await collect(readArchive(root))).map(({ folder }) => folder);
  assert.deepEqual(
    found.map((name) => /^(?:level\/)+[a-z]*\/?~[0-9a-f]{16}$/.test(name)),
    [true, true],
  );
  assert.notEqual(found[0], found[1]);
});

test('keywords beyond the 26 letters are left out', async () => {
  const root = temporaryDirectory('maildir');
  const keywords = Array.from({ length: 30 }, (_, index) => `k${index}`);
  await write(root, [plainMessage({ flags: keywords })]);
  const [message] = await collect(readArchive(root));
  assert.deepEqual(message?.flags, keywords.slice(0, 26));
});
