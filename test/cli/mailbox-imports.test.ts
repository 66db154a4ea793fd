/** `postrider mailbox import --imap` and `mailbox imports`, over the control socket, with runs that end as a test says. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inspectCertificates } from '../../src/certificates/certificates.ts';
import type { ControlClient } from '../../src/cli/control-client.ts';
import { importByImap } from '../../src/cli/mailbox-imports.ts';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import type { RunEnd, RunRequest } from '../../src/mailbox-imports/run.ts';
import { advanceImport } from '../../src/mailbox-imports/store.ts';
import { createImportKind } from '../../src/mailbox-imports/worker.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { memoryContents } from '../mailbox-imports/transfer/memory-contents.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const { address } = await addMailbox(world);
const { app } = world;
const runs: RunRequest[] = [];
let nextEnd: RunEnd = { kind: 'completed' };
const worker = startTasks(app, [
  createImportKind(app, {
    async runImport(request) {
      runs.push(request);
      const counts = {
        ...NO_COUNTS,
        folders: 2,
        foldersDone: 2,
        messages: 9,
        imported: 5,
        known: 3,
        failed: 1,
      };
      const errors = [{ folder: 'INBOX', uid: 7, message: 'The server does not give the message' }];
      const progress = JSON.stringify({ ...counts, importedBytes: 1_500_000 });
      await app.db.commit(advanceImport, { id: request.id, progress, errors });
      return nextEnd;
    },
  }),
]);
const control = await openControlSocket(app, {
  certificates: inspectCertificates(app),
  mailboxContents: memoryContents(),
});
after(async () => {
  await worker.stop(0);
  await control.close();
  await world.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: world.dataDir }, { input: 'old password' });
  const code = await runProgram(['mailbox', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const SOURCE = ['--imap', 'imap.example.com', '--user', 'ann@example.com'];

test('an import is followed to its end, with what could not be imported', async () => {
  const done = await run('import', address, ...SOURCE, '--starttls', '--port', '1143');
  assert.deepEqual(done, {
    code: 0,
    output: `Imported mail of ann@example.com into ${address}: 5 imported (1.5 MB), 2 of 2 folders; 3 were there already; 1 could not be imported\n`,
    errors: 'INBOX UID 7: The server does not give the message\n',
  });
  assert.deepEqual(runs.at(-1)?.settings, {
    ...{ host: 'imap.example.com', port: 1143, security: 'starttls' },
    ...{ user: 'ann@example.com', password: 'old password', hasLoggedIn: false },
  });
});

test('an import that fails says why', async () => {
  nextEnd = { kind: 'failed', reason: 'mailbox_full', error: 'The mailbox is full; raise its quota' };
  const { code, errors } = await run('import', address, ...SOURCE);
  assert.equal(code, 1);
  assert.match(errors, /The import failed: The mailbox is full; raise its quota; 5 imported/);
});

test('a daemon that stops meanwhile goes on with the import when it runs again', async () => {
  const request = async (method: string) => {
    if (method === 'POST') return { id: 'mim_1' };
    throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  };
  const options = { imap: 'imap.example.com', user: 'ann' };
  await assert.rejects(
    importByImap({ request } as unknown as ControlClient, fakeTerminal(), { mailbox: address, options }),
    { name: 'CommandError', message: /goes on with the import mim_1 when it runs again/ },
  );
});

test('imports are listed, shown and deleted', async () => {
  const { output } = await run('import', address, ...SOURCE, '--background', '--json');
  const { id } = JSON.parse(output);
  assert.match((await run('imports', 'list', address)).output, new RegExp(`^${id} +`, 'm'));
  assert.match((await run('imports', 'show', id)).output, new RegExp(`${id} .*imap\\.example\\.com`));
  assert.equal((await run('imports', 'delete', id, '--yes')).output, `Deleted ${id}\n`);
  const { code, errors } = await run('imports', 'show', id);
  assert.equal(code, 1);
  assert.match(errors, /Import not found/);
});

test('options that make no sense together are refused before the password is read', async () => {
  const terminal = {
    ...fakeTerminal({ POSTRIDER_DATA_DIR: world.dataDir }),
    readPassword: () => assert.fail('the password was read'),
  };
  for (const args of [
    ['import', address],
    ['import', address, '--imap', 'imap.example.com'],
    ['import', address, 'old.mbox', ...SOURCE],
    ['import', address, ...SOURCE, '--folder', 'Old'],
    ['import', address, ...SOURCE, '--port', '0'],
  ])
    assert.equal(await runProgram(['mailbox', ...args], terminal), 2, args.join(' '));
});
