import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { recordRestored } from '../../src/db/installation/store.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

async function run(args: readonly string[], input = '') {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir }, { input });
  const code = await runProgram(args, terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const SEND = ['send', '--from', 'hello@sandbox.mx.postrider.example', '--subject', 'Hello'];

test('an email is sent as a tenant, with its text from standard input', async () => {
  const to = ['--to', 'delivered@simulator.mx.postrider.example', 'opened@simulator.mx.postrider.example'];
  const sent = await run([...SEND, ...to, '--test', '--json'], 'one\ntwo');
  assert.equal(sent.code, 0, sent.errors);
  const { id } = JSON.parse(sent.output);
  const { body } = await daemon.request('GET', `/v1/emails/${id}`);
  assert.deepEqual([body.subject, body.text, body.to.length], ['Hello', 'one\ntwo\n', 2]);
  assert.match(
    (await run([...SEND, ...to, '--test', '--text', 'hi'])).output,
    /^Email em_\w+ is accepted\. "postrider email show em_\w+" /m,
  );
});

test('the rules of the API hold', async () => {
  const stranger = await run([
    'send',
    '--from',
    'a@other.example',
    '--to',
    'b@c.example',
    '--subject',
    's',
    '--text',
    't',
  ]);
  assert.deepEqual([stranger.code, stranger.output], [1, '']);
  assert.match(stranger.errors, /other\.example/);
  assert.equal((await run(['send', '--from', 'a@other.example', '--subject', 's'])).code, 2);
});

test('the status sums up the installation, and says whether a daemon runs', async () => {
  await daemon.request('POST', '/v1/domains', { body: { name: 'shop.example' } });
  const { output } = await run(['status']);
  assert.match(output, /^daemon +running, version \S+$/m);
  assert.match(output, /^hostname +mx\.postrider\.example$/m);
  assert.match(output, /^domains +1 pending$/m);
  assert.match(output, /^tasks +\d+ waiting, 0 failed$/m);
  const { running, tenants } = JSON.parse((await run(['status', '--json'])).output);
  assert.deepEqual([running, tenants], [true, 1]);
});

test('the status of a restored installation says that nothing leaves', async () => {
  assert.doesNotMatch((await run(['status'])).output, /^restored/m);
  await daemon.app.db.commit(recordRestored, { now: Date.parse('2026-11-29T08:00:00Z') });
  assert.match(
    (await run(['status'])).output,
    /^restored +2026-11-29T08:00:00\.000Z; nothing leaves until "postrider restore release"$/m,
  );
});
