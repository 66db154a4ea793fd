/** `postrider mailbox import` and `export`, over the control socket to a mailbox in memory. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inspectCertificates } from '../../src/certificates/certificates.ts';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { readArchive } from '../../src/mailbox-imports/archive/read.ts';
import { AppError } from '../../src/system/errors.ts';
import { collect } from '../mailbox-imports/archive/messages.ts';
import { memoryContents } from '../mailbox-imports/transfer/memory-contents.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const { address } = await addMailbox(world);
const contents = memoryContents();
const control = await openControlSocket(world.app, {
  certificates: inspectCertificates(world.app),
  mailboxContents: contents,
});
after(async () => {
  await control.close();
  await world.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: world.dataDir });
  const code = await runProgram(['mailbox', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const MBOX = ['one', 'two', 'three']
  .map(
    (name) => `From ann@example.net Fri Nov 21 09:05:00 2025\nStatus: RO\nSubject: ${name}\n\n>From me.\n\n`,
  )
  .join('');
const directory = temporaryDirectory('transfer');
const file = join(directory, 'old.mbox');
writeFileSync(file, MBOX);

test('an archive is imported once, and exported with its flags', async () => {
  const imported = await run('import', address, file, '--folder', 'Old');
  assert.deepEqual(imported, { code: 0, output: `Imported 3 messages into ${address}\n`, errors: '' });
  const again = await run('import', address, file, '--folder', 'Old');
  assert.equal(again.output, `Imported 0 messages into ${address}; 3 were there already\n`);
  assert.equal(contents.folders.get('Old')?.length, 3);
  for (const format of ['maildir', 'mbox']) {
    const to = join(directory, format);
    const exported = await run('export', address, to, '--format', format);
    assert.deepEqual(exported, {
      code: 0,
      output: `Exported 3 messages of ${address} to ${to}\n`,
      errors: '',
    });
    const found = await collect(readArchive(to));
    assert.deepEqual(
      found.map(({ folder, flags, content }) => [folder, ...flags, content.includes('\r\nFrom me.')]),
      Array(3).fill(['Old', '\\Seen', true]),
    );
  }
  const { output } = await run('export', address, join(directory, 'mbox'), '--format', 'mbox', '--json');
  assert.deepEqual(JSON.parse(output), { messages: 0, bytes: 0 });
});

test('what cannot be moved is said in one line', async () => {
  const note = join(directory, 'note.txt');
  writeFileSync(note, 'Dear diary\n');
  for (const [args, message] of [
    [['import', address, note], /note\.txt is neither a maildir nor a file in mbox format/],
    [['import', address, join(directory, 'none')], /none: there is no such file or directory/],
    [['import', 'nobody@people.example', file], /Mailbox not found/i],
    [
      ['export', 'bob@people.example', join(directory, 'mbox'), '--format', 'mbox'],
      /holds an export of ann@people/,
    ],
  ] as const) {
    const { code, errors } = await run(...args);
    assert.equal(code, 1);
    assert.match(errors, message);
    assert.equal(errors.trim().split('\n').length, 1);
  }
});

test('an import that fails says how far it has come, and goes on from there', async () => {
  const long = join(directory, 'long.mbox');
  writeFileSync(long, MBOX.repeat(100));
  const { add } = contents;
  let calls = 0;
  contents.add = (...args) => {
    calls += 1;
    if (calls === 2) throw new AppError('unavailable', 'The mailbox is busy');
    return add(...args);
  };
  const failed = await run('import', address, long);
  contents.add = add;
  assert.equal(failed.code, 1);
  assert.match(
    failed.errors,
    /^200 messages read \(0\.0 MB\), 200 imported; run the same command again to continue$/m,
  );
  assert.match(failed.errors, /^error: The mailbox is busy$/m);
  const again = await run('import', address, long);
  assert.equal(again.output, `Imported 100 messages into ${address}; 200 were there already\n`);
});
