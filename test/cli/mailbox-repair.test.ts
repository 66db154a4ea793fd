/** `postrider mailbox check` and `repair`, over the control socket. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { CheckReport } from '../../src/accounts/check.ts';
import { inspectCertificates } from '../../src/certificates/certificates.ts';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import type { MailboxRepairs } from '../../src/mailboxes/repairs.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const { address } = await addMailbox(world);
/** Parts that the next check answers with. */
let parts: CheckReport[] = [];
const mailboxRepairs: MailboxRepairs = {
  check: async (_mailbox, after) => parts[after]!,
  repair: async () => ({
    messages: 7,
    recovered: 2,
    altered: 1,
    gone: ['INBOX 17'],
    unreadable: 3,
    evidence: '/data/damaged-1',
  }),
};
const certificates = inspectCertificates(world.app);
const control = await openControlSocket(world.app, { certificates, mailboxRepairs });
after(async () => {
  await control.close();
  await world.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: world.dataDir });
  const code = await runProgram(['mailbox', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('a check goes on until the last part, and succeeds when nothing is damaged', async () => {
  parts = [
    { contents: 2, findings: [], next: 1 },
    { contents: 1, findings: [], next: null },
  ];
  const output = `Read 3 messages of ${address}; nothing is damaged\n`;
  assert.deepEqual(await run('check', address), { code: 0, output, errors: '' });
});

test('a check that finds damage lists it and fails', async () => {
  parts = [{ contents: 1, findings: ['the message INBOX 1 is damaged', 'two'], next: null }];
  const { code, output, errors } = await run('check', address);
  assert.equal(code, 1);
  assert.equal(output, `Read 1 message of ${address}:\nthe message INBOX 1 is damaged\ntwo\n`);
  assert.match(errors, /is damaged; see "mailbox repair"/);
});

test('a repair says what was recovered and what is gone', async () => {
  const { code, output } = await run('repair', address, '--yes');
  assert.equal(code, 0);
  assert.deepEqual(output.split('\n'), [
    `Repaired ${address}: it has 7 messages`,
    '2 have lost their folder and are in "Recovered"',
    '1 have other bytes than were stored, and are kept as they are',
    'INBOX 17 is gone',
    '3 places of the database could not be read',
    'The damaged files are in /data/damaged-1',
    '',
  ]);
});

test('without the daemon nothing is checked', async () => {
  const other = await openTestApp();
  const { address: name } = await addMailbox(other);
  const socket = await openControlSocket(other.app, { certificates: inspectCertificates(other.app) });
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: other.dataDir });
  assert.equal(await runProgram(['mailbox', 'check', name], terminal), 1);
  assert.match(terminal.errors, /The daemon does not run/);
  await socket.close();
  await other.close();
});
