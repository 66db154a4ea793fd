/** `postrider inbound`: the operator sees the received mail of all tenants, prints it, and runs its tasks again. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import type { ReceivedTaskRow } from '../../src/db/inbound-tables.ts';
import { listTasksOf } from '../../src/inbound/tasks/read-store.ts';
import { newId } from '../../src/system/ids.ts';
import { addDomain } from '../domains/fixtures.ts';
import { addReceived, addTaskRow, WITH_FILE } from '../inbound/fixtures.ts';
import { PASS } from '../inbound/mail-world.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
const control = await openControlSocket(world.app);
after(async () => {
  await control.close();
  await world.close();
});
await addDomain(world, { name: 'shop.example', status: 'verified', id: newId('dom', 0) });

async function run(args: string[], dataDir = world.dataDir) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: dataDir });
  const code = await runProgram(['inbound', ...args], terminal);
  const value = args.includes('--json') && code === 0 ? JSON.parse(terminal.output) : undefined;
  return { code, value, output: terminal.output, errors: terminal.errors };
}

type Added = Parameters<typeof addReceived>[1];

/** Adds a message that is newer than all before it: ids of the same millisecond have no order. */
async function receive(added?: Added) {
  await clock.advance(1);
  return addReceived(world, added);
}

let routes = 0;
async function addRoute({ enabled = true } = {}): Promise<string> {
  const body = { address: `r${routes++}@shop.example`, destination: 'https://shop.example/in', enabled };
  return (await world.request('POST', '/v1/inbound/routes', { key: world.liveKey, body })).body.id;
}

/** Adds a task of another kind to a message. */
function addTask(messageId: string, row: Partial<ReceivedTaskRow>): string {
  const id = newId('tsk', clock.now());
  addTaskRow(world, {
    ...{ id, messageId: messageId as ReceivedTaskRow['messageId'], position: 0, tenantId: null },
    ...{ kind: 'bounce', targetId: 'em_1', queue: '' },
    ...{ state: 'done', attempts: 1, dueAt: null, runId: null, responseStatus: null, responseTimeMs: null },
    ...{ responseBody: null, error: null, createdAt: clock.now(), endedAt: clock.now(), ...row },
  });
  return id;
}

const list = async (...args: string[]): Promise<string[]> =>
  (await run(['list', '--json', ...args])).value.messages.map(({ id }: { id: string }) => id);
const tasksOf = (id: string): Promise<ReceivedTaskRow[]> =>
  listTasksOf(world.app.db.read, id as ReceivedTaskRow['messageId']);

test('messages are listed of all tenants and of the installation, the newest first, and filtered', async () => {
  assert.equal((await run(['list'])).output, 'No received messages.\n');
  const { tenantId } = await world.addTenant('other');
  const posted = await receive({ routeIds: ['rt_1'], row: { headerFrom: 'ann@sender.example' } });
  const failed = await receive({
    ...{ tenantId, routeIds: ['rt_2'], address: 'help@shop.example', task: { state: 'failed' } },
    row: { flagged: 1, spamScore: 7.5, headerFrom: 'bob@spam.example' },
  });
  const bounce = await receive({ tenantId: null, row: { sender: '', headerFrom: null } });
  addTask(bounce, { state: 'pending' });
  for (const [args, expected] of [
    [[], [bounce, failed, posted]],
    [['--tenant', 'other'], [failed]],
    [['--tenant', world.tenantId], [posted]],
    [['--to', 'HELP@shop.example'], [failed]],
    [['--route', 'rt_1'], [posted]],
    [['--from', 'spam.example'], [failed]],
    [['--flagged'], [failed]],
    [['--kind', 'bounce'], [bounce]],
    [['--state', 'failed'], [failed]],
    [['--state', 'done', '--kind', 'post'], [posted]],
    [['--state', 'pending', '--kind', 'post'], []],
  ] as const)
    assert.deepEqual(await list(...args), expected, args.join(' '));
  assert.match((await run(['list', '--tenant', 'nobody'])).errors, /^error: Tenant not found/);
  assert.match((await run(['list', '--kind', 'magic'])).errors, /^error: .*`kind`/);
  assert.equal((await run(['list', '--state', 'late'])).code, 2);
});

test('the list is a table, in which text of strangers cannot control the terminal', async () => {
  const { tenantId } = await world.addTenant('table');
  const row = { flagged: 1, spamScore: 7.5, subject: 'One\u001b[2J\r\n\u202etwo' } as const;
  const id = await receive({ tenantId, routeIds: ['rt_1', 'rt_2'], row });
  const [heading, line] = (await run(['list', '--tenant', 'table'])).output.split('\n');
  assert.match(heading ?? '', /^ID +RECEIVED +TENANT +FROM +TO +BYTES +SPAM +TASKS +SUBJECT$/);
  const columns = [
    ...[id, '2027-\\S+Z', 'table', 'ann@sender\\.example', 'Sales@shop\\.example', '\\d+'],
    ...['7\\.5 flagged', 'post done \\(2\\)', 'One\ufffd\\[2J\ufffd\ufffd\ufffdtwo'],
  ];
  assert.match(line ?? '', new RegExp(`^${columns.join(' +')}$`));
});

test('a list that is cut off says so', async () => {
  await world.addTenant('many').then(async ({ tenantId }) => {
    for (let count = 0; count < 101; count++)
      await addReceived(world, { tenantId, text: 'Subject: x\r\n\r\n' });
  });
  const lines = (await run(['list', '--tenant', 'many'])).output.trimEnd().split('\n');
  assert.deepEqual([lines.length, lines.at(-1)], [102, '(the newest 100)']);
});

test('a message is shown with its envelope, verdicts, recipients and tasks', async () => {
  const routeId = await addRoute();
  const auth = {
    ...PASS,
    dkim: [{ ...SIGNATURE, result: 'pass' }],
    dmarc: { ...PASS.dmarc, result: 'fail', policy: 'quarantine' },
    arc: { result: 'pass', sets: [{ sealer: 'lists.example', dmarc: 'pass', authorDomain: '' }], reason: '' },
  };
  const due = clock.now() + 60_000;
  const id = await receive({
    routeIds: [routeId],
    row: {
      auth: JSON.stringify(auth),
      flagged: 1,
      spamScore: 6,
      spamReasons: '[{"name":"spf_fail","points":2}]',
    },
    task: { state: 'pending', dueAt: due, responseStatus: 503, error: 'The receiver answered 503' },
  });
  const { output } = await run(['show', id]);
  for (const line of [
    `id +${id}`,
    'client +192\\.0\\.2\\.1 \\(mail\\.sender\\.example\\)',
    'tls +none',
    'sender +ann@sender\\.example',
    'spf +pass \\(sender\\.example\\)',
    'dkim +pass \\(s1\\._domainkey\\.sender\\.example\\)',
    'dmarc +fail \\(sender\\.example, p=quarantine\\)',
    'arc +pass \\(lists\\.example\\)',
    'reverse dns +pass \\(mail\\.sender\\.example\\)',
    'spam score +6',
    'flagged +yes',
    'reasons +spf_fail 2',
    `Sales@shop\\.example +post +${routeId}`,
    `tsk_\\w+ +post +${routeId} +pending +1 +${new Date(due).toISOString()} +503 +The receiver answered 503`,
  ])
    assert.match(output, new RegExp(`^${line}$`, 'm'), line);
  assert.doesNotMatch(output, /null|object|require tls|content deleted/);
  const { value } = await run(['show', id, '--json']);
  assert.deepEqual(value.auth.dmarc, { result: 'fail', policy: 'quarantine', domain: 'sender.example' });
  assert.equal(value.tasks[0].nextAttemptAt, new Date(due).toISOString());
  const unknown = await run(['show', 'in_none']);
  assert.deepEqual([unknown.code, unknown.errors], [1, 'error: Received message not found\n']);
});

const SIGNATURE = {
  domain: 'sender.example',
  selector: 's1',
  algorithm: 'rsa-sha256',
  reason: '',
  isAligned: true,
};

test('mail of this installation itself, without a task or a sender, is shown as such', async () => {
  const row = { sender: '', remoteAddress: '', helo: null, headerFrom: null, subject: null } as const;
  const { output } = await run(['show', await receive({ tenantId: null, row })]);
  for (const line of [
    'tenant +none: mail of the installation',
    'client +this installation',
    'sender +<>',
    'No tasks\\.',
  ])
    assert.match(output, new RegExp(`^${line}$`, 'm'), line);
});

test('a message is printed as it arrived, with the added fields in front, until its content is deleted', async () => {
  const id = await receive();
  assert.equal((await run(['raw', id])).output, `Return-Path: <ann@sender.example>\r\n${WITH_FILE}`);
  const deleted = await receive({ row: { blobId: null, contentDeletedAt: clock.now() } });
  const refused = await run(['raw', deleted]);
  assert.deepEqual(
    [refused.code, refused.output, refused.errors],
    [1, '', 'error: The content of the message is no longer kept\n'],
  );
});

test('raw works without a daemon, on the database itself', async () => {
  const refused = await run(['raw', 'in_none'], temporaryDirectory('inbound'));
  assert.deepEqual([refused.code, refused.errors], [1, 'error: Received message not found\n']);
});

test('failed tasks of every kind are run again, or all posts when none has failed', async () => {
  const id = await receive({ routeIds: [await addRoute(), await addRoute()] });
  const replayed = await run(['replay', id]);
  assert.equal(replayed.output, `Replaying 2 tasks of ${id}\n`);
  assert.deepEqual(
    (await tasksOf(id)).map(({ state, attempts, dueAt }) => [state, attempts, dueAt]),
    [
      ['pending', 0, clock.now()],
      ['pending', 0, clock.now()],
    ],
  );
  const bounce = await receive({ tenantId: null, row: { sender: '' } });
  addTask(bounce, { state: 'failed', error: 'The server failed to run the task', attempts: 15 });
  addTask(bounce, { kind: 'report', position: 1 });
  assert.deepEqual((await run(['replay', bounce, '--json'])).value, { replayed: 1 });
  assert.deepEqual(
    (await tasksOf(bounce)).map(({ kind, state, attempts, error }) => [kind, state, attempts, error]),
    [
      ['bounce', 'pending', 0, null],
      ['report', 'done', 1, null],
    ],
  );
});

test('one task is run again when it is a post or has failed, belongs to the message, and does not run', async () => {
  const [routeId, disabled] = [await addRoute(), await addRoute({ enabled: false })];
  const id = await receive({ routeIds: [routeId, disabled], task: { state: 'failed' } });
  const [post, other] = await tasksOf(id);
  assert.equal((await run(['replay', id, '--task', post?.id ?? ''])).output, `Replaying 1 task of ${id}\n`);
  assert.deepEqual(
    (await tasksOf(id)).map(({ state }) => state),
    ['pending', 'failed'],
  );
  const report = addTask(id, { kind: 'report' });
  const running = addTask(id, { kind: 'post', targetId: routeId, state: 'pending', runId: 'run_1' });
  const foreign = addTask(await receive(), { state: 'failed' });
  const refusal = async (task: string) => (await run(['replay', id, '--task', task])).errors;
  assert.match(await refusal(other?.id ?? ''), /^error: No route of the message is enabled/);
  assert.match(await refusal(report), /^error: The report has not failed/);
  assert.match(await refusal(running), /^error: A task of the message is running/);
  assert.equal(await refusal(foreign), 'error: Task of the message not found\n');
  assert.equal((await run(['replay', 'in_none'])).errors, 'error: Received message not found\n');
  const done = await receive();
  assert.match((await run(['replay', done])).errors, /^error: Nothing is left to do/);
  const deleted = await receive({
    routeIds: [routeId],
    row: { blobId: null, contentDeletedAt: clock.now() },
  });
  assert.match((await run(['replay', deleted])).errors, /^error: The content of the message/);
});
