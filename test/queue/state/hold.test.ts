import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { Censuses } from '../../../src/queue/control/census.ts';
import { watchQueue } from '../../../src/queue/control/queue-metrics.ts';
import { createProbeWork } from '../../../src/queue/held/probe.ts';
import { countHeld, findWaitingSuspect } from '../../../src/queue/held/store.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { startWork } from '../../../src/system/worker.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { recordLog } from '../../support/record-log.ts';
import { eventTypes, noReceiver, openSpool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { log, lines } = recordLog();
const spool = await openSpool({ system: { log } });
const control = await openControlSocket(spool.app);
after(async () => {
  await control.close();
  await spool.close();
});
const { app, clock, liveKey: key } = spool;
watchQueue(app, new Censuses(app));
const DELIVERED = 'delivered@simulator.mx.postrider.example';
const DAY_MS = 24 * 3_600_000;
const WHY = 'The daemon ended during 5 attempts to deliver this; an operator can release it';

async function listed(recipientStatus: string): Promise<string[]> {
  const { body } = await spool.request('GET', `/v1/emails?recipientStatus=${recipientStatus}`, { key });
  return body.data.map(({ id }: { id: string }) => id);
}

async function heldEmail(to: string | string[] = DELIVERED): Promise<string> {
  const id = await spool.accept(to);
  await spool.crashUntilHeld();
  return id;
}

async function queue(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const code = await runProgram(['queue', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

/** Delivers all mail that is due, and all that its probe makes due. */
async function deliverAll(): Promise<void> {
  const probes = startWork(app, createProbeWork(app));
  const dispatcher = startDelivering(app, noReceiver);
  await waitUntil(async () => !(await findWaitingSuspect(app.db.read)), 'no suspect waits for its probe');
  await spool.settled();
  await dispatcher.stop(1_000);
  await probes.stop(1_000);
}

test('held mail is shown with its reason, listed, counted, logged and reported by an event', async () => {
  const id = await heldEmail();
  const email = await spool.email(id);
  const [recipient] = email.recipients;
  assert.deepEqual(
    [email.status, recipient.status, recipient.attempts, recipient.diagnostic],
    ['sent', 'held', 5, WHY],
  );
  assert.deepEqual([email.recipientCounts.held, email.recipientCounts.deferred], [1, 0]);
  assert.deepEqual(eventTypes(email), ['email.queued', 'email.sent', 'email.held']);
  assert.deepEqual([await listed('held'), await listed('deferred')], [[id], []]);
  assert.deepEqual(lines.at(-1), {
    ...{ emailId: id, tenantId: spool.tenantId, mode: 'live', to: DELIVERED, attempt: 5 },
    ...{ reason: 'interrupted', diagnostic: WHY, msg: 'mail held' },
  });
  await spool.deliverDue();
  assert.match((await app.metrics.show()).text, /^postrider_queue_held_recipients 1$/m);
  assert.equal((await spool.cancel(id)).body.status, 'canceled');
  assert.match((await app.metrics.show()).text, /^postrider_queue_held_recipients 0$/m);
});

test('an email can be canceled when all that is left of it is held; delivered recipients stay delivered', async () => {
  const id = await spool.accept([DELIVERED, 'bob@rcpt.example']);
  await spool.deliverDue();
  const { recipients } = await spool.email(id);
  const statuses = recipients.map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses, ['delivered', 'deferred']);
  await clock.advance(DAY_MS);
  await spool.crashUntilHeld();
  const { status, body } = await spool.cancel(id);
  assert.deepEqual([status, body.status], [200, 'delivered']);
  assert.deepEqual(
    body.recipients.map(({ status }: { status: string }) => status),
    ['delivered', 'canceled'],
  );
  assert.equal((await spool.cancel(id)).status, 409, 'nothing is left');
});

test('held mail is not rescheduled', async () => {
  const id = await heldEmail();
  const body = { scheduledAt: new Date(clock.now() + DAY_MS).toISOString() };
  const answer = await spool.request('PATCH', `/v1/emails/${id}`, { key, body });
  assert.deepEqual([answer.status, answer.body.error.type], [409, 'invalid_state']);
  await spool.cancel(id);
});

test('an operator lists held mail and releases it, one email or all of it', async () => {
  assert.match((await queue('list', '--state', 'held')).output, /^No such mail waits\.$/m);
  assert.match((await queue('list')).output, /^No mail waits\.$/m);
  const ids = [await heldEmail(), await heldEmail(), await heldEmail()];
  const { output } = await queue('list', '--state', 'held');
  assert.match(output, /^EMAIL +TENANT +TO +STATE +TRIES +ACCEPTED +NEXT ATTEMPT +LAST REPLY\n/);
  for (const id of ids)
    assert.match(output, new RegExp(`^${id} +default +${DELIVERED} +held .* ${WHY}$`, 'm'));
  const json = JSON.parse((await queue('list', '--state', 'held', '--json')).output);
  assert.deepEqual([json.recipients.length, json.recipients[0].emailId], [3, ids[0]]);
  const one = await queue('release', ids[0] ?? '');
  assert.deepEqual([one.code, one.output.trim()], [0, 'Released: 1 recipient']);
  const all = await queue('release', '--all');
  assert.deepEqual([all.code, all.output.trim()], [0, 'Released: 2 recipients']);
  await deliverAll();
  for (const id of ids) assert.equal((await spool.email(id)).status, 'delivered');
});

test('mail that is not held cannot be released, and a release names one email, a selection, or all', async () => {
  const id = await spool.accept(DELIVERED);
  for (const [args, code, message] of [
    [[id], 1, /No recipient of this email is held/],
    [['em_01khq3z5vgxw1r8t6n2m4c9b7d'], 1, /Email not found/],
    [['qa_01khq3z5vgxw1r8t6n2m4c9b7d'], 1, /Hold not found/],
    [[], 2, /give one of these: the id of one email/],
    [[id, '--all'], 2, /give one of these: the id of one email/],
    [['--domain', ''], 1, /`domain` must not be empty/],
    [['--domain', 'rcpt.example', '--all'], 2, /give one of these: the id of one email/],
  ] as const) {
    const answer = await queue('release', ...args);
    assert.equal(answer.code, code);
    assert.match(answer.errors, message);
  }
  await spool.cancel(id);
});

test('released mail is tried alone, lives for another day, and one more crash holds it again', async () => {
  const id = await heldEmail('bob@rcpt.example');
  await clock.advance(7 * DAY_MS);
  assert.equal((await queue('release', id)).code, 0);
  assert.deepEqual(await spool.claim(), [], 'it waits for its probe');
  await spool.startProbe();
  assert.deepEqual(await spool.crash('crash'), [1]);
  assert.equal((await spool.recipient(id)).status, 'held');
  assert.equal((await queue('release', id)).code, 0);
  await deliverAll();
  assert.equal((await spool.recipient(id)).status, 'deferred', 'it has not expired');
  assert.equal(await countHeld(app.db.read), 0);
});
