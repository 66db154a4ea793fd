import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { sweepOverdue } from '../../../src/queue/overdue/sweep.ts';
import type { QueueWaits, Waiting } from '../../../src/queue/waiting.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { openSpool, PACKAGED } from '../../support/spool.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const spool = closeAfterTests()(await openSpool());
const { clock, app } = spool;
let reason: Waiting['reason'] | undefined;
const waiting = () => (reason === undefined ? undefined : { reason, until: null });
const explainWaiting = async (queues: readonly string[]): Promise<QueueWaits> =>
  new Map(queues.map((queue) => [queue, { firstAttempts: waiting(), retries: waiting() }]));
const sweep = (egress = app.egress) => sweepOverdue({ ...app, egress, replies: PACKAGED, explainWaiting });

beforeEach(() => {
  reason = undefined;
});

type Event = { type: string };
const eventsOf = async (id: string): Promise<string[]> =>
  (await spool.email(id)).events.map(({ type }: Event) => type);

test('mail that is never claimed bounces when it has expired, and its event says so', async () => {
  reason = 'rest';
  const id = await spool.accept('bob@rests.example');
  await clock.advance(48 * HOUR_MS);
  await sweep();
  assert.equal((await spool.recipient(id)).status, 'queued', 'its last attempt may still be made');
  await clock.advance(10 * MINUTE_MS);
  await sweep({ isHeld: true } as typeof app.egress);
  assert.equal((await spool.recipient(id)).status, 'queued', 'a restored installation changes nothing');
  await sweep();
  const { status, enhancedCode, diagnostic, attempts } = await spool.recipient(id);
  assert.deepEqual([status, enhancedCode, attempts], ['bounced', '4.4.7', 0]);
  assert.match(diagnostic, /^Expired\. Not tried yet: the receiving servers get a pause/);
  const events = await eventsOf(id);
  assert.deepEqual(
    events.filter((type) => type !== 'email.delivery_delayed'),
    ['email.queued', 'email.bounced'],
  );
  assert.ok(!events.includes('email.sent'));
});

test('mail that waits without being claimed tells its delay after ten minutes, and again after four hours', async () => {
  const id = await spool.accept('eve@rests.example');
  const delays = async () => (await eventsOf(id)).filter((type) => type === 'email.delivery_delayed').length;
  reason = 'rest';
  await clock.advance(9 * MINUTE_MS);
  await sweep();
  assert.equal(await delays(), 0);
  await clock.advance(MINUTE_MS);
  reason = undefined;
  await sweep();
  assert.equal(await delays(), 0, 'nothing keeps it');
  reason = 'rate';
  await sweep();
  await sweep();
  assert.equal(await delays(), 1);
  assert.equal((await spool.recipient(id)).status, 'queued');
  await clock.advance(4 * HOUR_MS);
  await sweep();
  assert.equal(await delays(), 2);
});
