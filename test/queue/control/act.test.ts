import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { listInForce } from '../../../src/queue/control/store.ts';
import { recoverQueue } from '../../../src/queue/worker.ts';
import { findTask } from '../../../src/tasks/store.ts';
import { act, askFor, sweepSlice } from '../../support/queue-action.ts';
import { eventTypes, openSpool } from '../../support/spool.ts';

/** The queue of the test that runs: each has its own, because a cancel stays in force while other mail is in flight. */
let spool = await openSpool();
let { app, clock } = spool;
const HOUR_MS = 3_600_000;

afterEach(async () => {
  await spool.close();
  spool = await openSpool();
  ({ app, clock } = spool);
});
after(() => spool.close());

const statusesOf = async (id: string): Promise<string[]> =>
  (await spool.email(id)).recipients.map(({ status }: { status: string }) => status);

/** Accepts an email whose domain has no DNS, and lets its first attempt fail. */
async function deferred(to: string | string[]): Promise<string> {
  const id = await spool.accept(to);
  await spool.deliverDue();
  return id;
}

test('a hold holds what waits, and each later email for as long as it is in force', async () => {
  const [old, other] = [await spool.accept('ann@held.example'), await spool.accept('ann@other.example')];
  const hold = await act(app, 'hold', { domain: 'held.example', reason: 'they ask for a pause' });
  assert.equal(hold.changed, 1);
  const recipient = await spool.recipient(old);
  assert.deepEqual(
    [recipient.status, recipient.diagnostic],
    ['held', 'The operator holds this mail: they ask for a pause'],
  );
  assert.deepEqual(eventTypes(await spool.email(old)), ['email.queued', 'email.held']);
  assert.deepEqual(await statusesOf(other), ['queued']);
  const late = await spool.accept(['bob@held.example', 'bob@other.example']);
  await spool.claim();
  assert.deepEqual(await statusesOf(late), ['held', 'sent']);
});

test('a release ends the holds that name nothing else, and what another hold names stays held', async () => {
  const both = await spool.accept('ann@held.example');
  const byTenant = await act(app, 'hold', { tenantId: spool.tenantId });
  await act(app, 'hold', { domain: 'held.example' });
  assert.equal((await act(app, 'release', { domain: 'held.example' })).changed, 0);
  assert.deepEqual(await statusesOf(both), ['held']);
  assert.deepEqual(
    (await listInForce(app.db.read)).map(({ id }) => id),
    [byTenant.id],
  );
  assert.equal((await act(app, 'release', { tenantId: spool.tenantId })).changed, 1);
  assert.equal((await spool.claim()).length, 1, 'it is due at once');
});

test('held mail that was scheduled keeps its time when it is released', async () => {
  const at = clock.now() + HOUR_MS;
  const id = await spool.accept('ann@held.example', { scheduledAt: new Date(at).toISOString() });
  await act(app, 'hold', { emailId: id });
  await act(app, 'release', { emailId: id });
  assert.deepEqual(await spool.claim(), [], 'it is not due yet');
  const { dueAt } = await app.db.read
    .selectFrom('recipients')
    .select('dueAt')
    .where('messageId', '=', id)
    .executeTakeFirstOrThrow();
  assert.equal(dueAt, at);
});

test('a failed email bounces with the reason, suppresses nobody, and is not sent', async () => {
  const id = await deferred(['ann@fail.example', 'bob@other.example']);
  const action = await act(app, 'fail', { domain: 'fail.example', reason: 'the domain is gone' });
  assert.deepEqual([action.changed, action.isInForce], [1, 0]);
  const { recipients } = await spool.email(id);
  const [ann, bob] = recipients;
  assert.deepEqual([ann.status, bob.status], ['bounced', 'deferred']);
  const event = await app.db.read
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'email.bounced')
    .executeTakeFirstOrThrow();
  const { bounce } = JSON.parse(event.data);
  assert.deepEqual(
    [bounce.type, bounce.diagnostic],
    ['undetermined', 'The operator has ended the delivery of this mail: the domain is gone'],
  );
  const suppressed = await spool.request('GET', '/v1/suppressions', { key: spool.liveKey });
  assert.deepEqual(suppressed.body.data, []);
});

test('mail that the slices have not reached is not sent, and mail that comes after a cancel is', async () => {
  const before = await spool.accept('ann@cancel.example');
  await clock.advance(1);
  const action = await askFor(app, 'cancel', { domain: 'cancel.example' });
  await clock.advance(1);
  const later = await spool.accept('bob@cancel.example');
  const claimed = await spool.claim();
  assert.deepEqual(
    claimed.map(({ message }) => message.id),
    [later],
  );
  assert.equal((await spool.email(before)).status, 'canceled');
  let swept = await sweepSlice(app, action);
  while (swept.finishedAt === null) swept = await sweepSlice(app, swept);
  assert.deepEqual(await statusesOf(later), ['sent']);
});

test('an action goes on where its last slice ended', async () => {
  const ids = await spool.acceptMany(10, 'slices.example');
  const action = await askFor(app, 'cancel', { domain: 'slices.example' });
  const first = await sweepSlice(app, action, 4);
  assert.deepEqual([first.changed, first.finishedAt], [4, null]);
  const second = await sweepSlice(app, action, 4);
  const third = await sweepSlice(app, action, 4);
  assert.deepEqual([second.changed, third.changed, third.finishedAt], [8, 10, clock.now()]);
  for (const id of ids) assert.equal((await spool.email(id)).status, 'canceled');
});

test('a new action has a task, which goes on when the command has ended', async () => {
  const { id: reference } = await askFor(app, 'hold', { domain: 'task.example' });
  const task = await findTask(app.db.read, { kind: 'queue-actions', reference });
  assert.equal(task?.dueAt, clock.now() + 2_000);
});

test('mail that is being sent follows a cancel when it is deferred, and the action is in force until then', async () => {
  const id = await spool.accept('ann@sent.example');
  await clock.advance(1);
  await spool.claim('earlier run');
  const action = await act(app, 'cancel', { domain: 'sent.example' });
  assert.deepEqual([action.changed, action.isInForce], [0, 1]);
  assert.deepEqual(await statusesOf(id), ['sent'], 'a claimed recipient is left alone');
  await recoverQueue(app);
  const swept = await sweepSlice(app, action);
  assert.deepEqual([swept.changed, swept.isInForce], [1, 0]);
  assert.deepEqual(await statusesOf(id), ['canceled']);
});

test('a retry makes deferred mail due now, and leaves scheduled mail alone', async () => {
  const late = await deferred('ann@retry.example');
  const at = new Date(clock.now() + HOUR_MS).toISOString();
  await spool.accept('bob@retry.example', { scheduledAt: at });
  assert.deepEqual(await spool.claim(), []);
  assert.equal((await act(app, 'retry', { domain: 'retry.example' })).changed, 1);
  assert.deepEqual(
    (await spool.claim()).map(({ message }) => message.id),
    [late],
  );
});

test('mail is selected by the class of its last reply, by its kind, and by the site that deferred it', async () => {
  const id = await deferred('ann@class.example');
  const { class: replyClass } = await spool.recipient(id);
  assert.equal(replyClass, 'bad-domain');
  assert.equal((await act(app, 'hold', { class: 'quota' })).changed, 0);
  assert.equal((await act(app, 'hold', { kind: 'broadcast' })).changed, 0);
  assert.equal((await act(app, 'hold', { site: 'mx.elsewhere.example' })).changed, 0);
  assert.equal((await act(app, 'retry', { class: 'bad-domain' })).changed, 1);
  await act(app, 'release');
  assert.equal((await act(app, 'hold', { site: 'dead end class.example' })).changed, 1);
});

test('a hold on a site holds mail at the claim of that site', async () => {
  const id = await spool.accept('ann@site.example');
  // The spool claims as the site `test`.
  await act(app, 'hold', { site: 'test' });
  assert.deepEqual(await statusesOf(id), ['queued'], 'nothing is known of its site yet');
  await spool.claim();
  assert.deepEqual(await statusesOf(id), ['held']);
});

test('rerouted mail waits in the queue of its target, new mail too, and comes back when the reroute ends', async () => {
  const old = await spool.accept('ann@moved.example');
  const action = await act(app, 'reroute', { domain: 'moved.example', target: 'relay.example' });
  assert.deepEqual([action.changed, action.isInForce], [1, 1]);
  const queueOf = async (id: string) =>
    (
      await app.db.read
        .selectFrom('recipients')
        .select('queue')
        .where('messageId', '=', id)
        .executeTakeFirst()
    )?.queue;
  assert.match((await queueOf(old)) ?? '', / moved\.example>relay\.example$/);
  const late = await spool.accept('bob@moved.example');
  const claimed = await spool.claim();
  assert.deepEqual(
    claimed.map(({ message }) => message.id),
    [old],
    'the new one is due in its other queue',
  );
  assert.match((await queueOf(late)) ?? '', / moved\.example>relay\.example$/);
  const end = await act(app, 'reroute', { domain: 'moved.example' });
  assert.equal(end.changed, 1);
  assert.match((await queueOf(late)) ?? '', / moved\.example$/);
  assert.deepEqual(await listInForce(app.db.read), []);
});

test('of two reroutes that name the same mail, the newer one decides, and the mail is not moved back', async () => {
  await act(app, 'reroute', { tenantId: spool.tenantId, target: 'older.example' });
  // Actions of one millisecond have no order.
  await clock.advance(1);
  await act(app, 'reroute', { domain: 'moved.example', target: 'newer.example' });
  const id = await spool.accept('ann@moved.example');
  await spool.claim();
  const claimed = await spool.claim();
  assert.deepEqual(
    claimed.map(({ message, recipients }) => [message.id, recipients[0]?.queue.split(' ').at(-1)]),
    [[id, 'moved.example>newer.example']],
  );
});

test('mail that a reroute has moved is not moved again by its new site', async () => {
  await act(app, 'reroute', { site: 'test', target: 'other.example' });
  const id = await spool.accept('ann@moved.example');
  await clock.advance(1);
  await act(app, 'reroute', { domain: 'moved.example', target: 'newer.example' });
  await clock.advance(1);
  await act(app, 'reroute', { site: 'test', target: 'third.example' });
  const claimed = await spool.claim();
  assert.deepEqual(
    claimed.map(({ message }) => message.id),
    [id],
  );
});
