import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { App } from '../../../src/app.ts';
import type { Db } from '../../../src/db/database.ts';
import type { ClaimRequest } from '../../../src/queue/claim.ts';
import { queueKeyOf } from '../../../src/queue/queue-key.ts';
import { DeliveryQueue, type ReadQueue } from '../../../src/queue/site/delivery-queue.ts';
import { Site, type SiteEvents } from '../../../src/queue/site/site.ts';
import { Slots } from '../../../src/queue/site/slots.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const IDLE_MS = 5_000;
const DEAD_END = {
  kind: 'dead-end',
  site: 'dead end a.example',
  domain: 'a.example',
  plan: { kind: 'null-mx' },
} as const;

/** A site by itself, on a table of which every message that is claimed is due. */
function openSite(
  events: Partial<SiteEvents> = {},
  recipients: { id: string }[] = [],
  recipientsPerMinute: number | null = null,
) {
  const clock = createFakeClock(0);
  const claims: ClaimRequest[] = [];
  /** What stands between the claim and its being on disk. */
  const disk = { ready: Promise.resolve() };
  const commit = async (_write: unknown, claim: ClaimRequest) => {
    claims.push(claim);
    await disk.ready;
    return claim.messageIds.map((id) => {
      const kind = id.startsWith('news') ? 'broadcast' : 'transactional';
      return { message: { id, kind, tenantId: 'ten_1' }, recipients };
    });
  };
  const log = { error() {} } as unknown as App['log'];
  const wakeups = { notify() {}, listen: () => () => {} };
  const db = { commit } as unknown as Db;
  const site = new Site(
    { clock, db, runId: 'this', log, wakeups, prepare: () => new Promise(() => {}) },
    {
      route: DEAD_END,
      recipientsPerMinute,
      maxConnections: 1,
      events: { onDone() {}, onStale() {}, onChange() {}, isHeldBack: () => false, ...events },
    },
  );
  site.sessions = 1;
  return { site, clock, claims, disk };
}

const slots = new Slots(1_000);
const slot = () => slots.open('ten_1', true);

type QueueOptions = {
  routedUntil?: number;
  tenantId?: `ten_${string}`;
  kind?: 'transactional' | 'broadcast';
};

function queue(
  domain: string,
  read: ReadQueue,
  { routedUntil = Infinity, tenantId = 'ten_1', kind = 'transactional' }: QueueOptions = {},
) {
  const key = queueKeyOf({ mode: 'live', kind, tenantId }, domain);
  return Object.assign(new DeliveryQueue(key, read), { routedUntil });
}

/** Takes the next message for a session that does not wait. Returns its id. */
const takeFrom = async (site: Site) => (await site.take(0, slot()))?.message.id;

const nothing: ReadQueue = async () => [];

/** Answers with each of them once. */
function holding(...messageIds: string[]): ReadQueue {
  return async (_lane, limit) => messageIds.splice(0, limit);
}

test('a queue in which nothing is due any more does not hide the mail of the next one', async () => {
  const { site } = openSite();
  site.add(queue('empty.example', nothing));
  site.add(queue('full.example', holding('msg_1')));
  assert.equal(await takeFrom(site), 'msg_1');
});

test('transactional mail leaves before the copies of broadcasts that were claimed earlier', async () => {
  const { site } = openSite();
  site.sessions = 3;
  const news = Array.from({ length: 12 }, (_, index) => `news_${index}`);
  site.add(queue('a.example', holding(...news), { kind: 'broadcast' }));
  const taken = [await takeFrom(site), await takeFrom(site), await takeFrom(site)];
  site.add(queue('b.example', holding('msg_1', 'msg_2')));
  taken.push(await takeFrom(site));
  await turn();
  for (let count = 0; count < 4; count++) taken.push(await takeFrom(site));
  assert.deepEqual(taken, [...news.slice(0, 4), 'msg_1', 'msg_2', 'news_4', 'news_5']);
});

test('mail that comes the moment the queues were found empty does not wait for an idle session to end', async () => {
  for (let microtasks = 0; microtasks < 30; microtasks++) {
    const { site } = openSite({
      onDone(done) {
        if (done.name.domain !== 'empty.example') return;
        let arrival = Promise.resolve();
        for (let count = 0; count < microtasks; count++) arrival = arrival.then(() => {});
        void arrival.then(() => site.add(queue('late.example', holding('msg_1'))));
      },
    });
    site.add(queue('empty.example', nothing));
    let taken: string | undefined;
    void site.take(IDLE_MS, slot()).then((claimed) => {
      taken = claimed?.message.id;
    });
    await turn();
    assert.equal(taken, 'msg_1', `after ${microtasks} microtasks`);
  }
});

test('queues that cannot be read are read again a moment later, and the failure is logged', async () => {
  const { site, clock } = openSite();
  let failures = 1;
  const flaky: ReadQueue = async (_lane, limit) => {
    if (failures-- > 0) throw new Error('too many open files');
    return ['msg_1'].slice(0, limit);
  };
  site.add(queue('a.example', flaky));
  assert.equal(await takeFrom(site), undefined);
  assert.equal(site.hasWork, false, 'not asked at once again, which nothing else could interrupt');
  await clock.advance(1_000);
  assert.equal(site.hasWork, true);
  assert.equal(await takeFrom(site), 'msg_1');
});

test('a queue does not move to another site in the middle of a claim', async () => {
  const stale: DeliveryQueue[] = [];
  const { site, clock } = openSite({ onStale: (one) => stale.push(one) });
  const moving = queue('moving.example', holding('msg_1', 'msg_2'), { routedUntil: 10 });
  site.add(moving);
  site.add(
    queue('slow.example', async () => {
      await clock.advance(20);
      return [];
    }),
  );
  assert.equal(await takeFrom(site), 'msg_1');
  assert.deepEqual(stale, []);
  assert.equal(await takeFrom(site), 'msg_2');
  assert.equal(await takeFrom(site), undefined);
  assert.deepEqual(stale, [moving]);
});

test('mail that is claimed when the last session is gone asks for another one', async () => {
  const changed: Site[] = [];
  const { site, disk } = openSite({ onChange: (one) => changed.push(one) });
  site.add(queue('a.example', holding('msg_1', 'msg_2', 'msg_3', 'msg_4', 'msg_5')));
  for (let count = 0; count < 3; count++) await site.take(0, slot());
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.ready = promise;
  await site.take(0, slot());
  await turn();
  site.sessions = 0;
  changed.length = 0;
  resolve();
  await turn();
  assert.deepEqual(changed, [site]);
  assert.equal(site.wantsSession, true);
});

test('a closing site claims no mail of the queues that it was reading, and waits for the running claim', async () => {
  const { promise: read, resolve: answer } = Promise.withResolvers<string[]>();
  const { site, claims } = openSite();
  site.add(queue('a.example', () => read));
  const taken = site.take(IDLE_MS, slot());
  await turn();
  const closed = site.close();
  answer(['msg_1']);
  await closed;
  assert.equal(await taken, undefined);
  assert.deepEqual(claims, []);
});

test('a site is not closed before its running claim has ended', async () => {
  const { site, disk } = openSite();
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.ready = promise;
  site.add(queue('a.example', holding('msg_1')));
  const taken = site.take(0, slot());
  await turn();
  let isClosed = false;
  const closed = site.close().then(() => {
    isClosed = true;
  });
  site.sessions = 0;
  await turn();
  assert.deepEqual([isClosed, site.isEmpty], [false, false]);
  resolve();
  await closed;
  assert.equal((await taken)?.message.id, 'msg_1');
  assert.equal(site.isEmpty, true);
});

test('a closed site accepts no queue, and an abandoned site hands out no mail', async () => {
  const { site } = openSite();
  site.add(queue('a.example', holding('msg_1', 'msg_2', 'msg_3')));
  assert.equal(await takeFrom(site), 'msg_1');
  await site.close();
  let looks = 0;
  site.add(queue('late.example', async () => (++looks < 100 ? ['msg_4'] : [])));
  assert.equal(await takeFrom(site), 'msg_2');
  site.abandon();
  assert.equal(await takeFrom(site), undefined);
  assert.ok(looks < 100, 'looked into without an end');
});

test('one idle session is dismissed at a time', async () => {
  const { site } = openSite();
  site.sessions = 2;
  const idle = [site.take(IDLE_MS, slot()), site.take(IDLE_MS, slot())];
  await turn();
  assert.equal(site.dismissIdle(), true);
  const stillIdle = await Promise.race([Promise.all(idle), turn('one is left')]);
  assert.equal(stillIdle, 'one is left');
  assert.equal(site.dismissIdle(), true);
  await Promise.all(idle);
  assert.equal(site.dismissIdle(), false);
});

test('thousands of queues are read without blocking the event loop', async () => {
  const { site } = openSite();
  for (let index = 0; index < 2_000; index++) site.add(queue(`d${index}.example`, nothing));
  let turns = 0;
  let isDone = false;
  const taken = site.take(0, slot()).then(() => {
    isDone = true;
  });
  while (!isDone) {
    await turn();
    turns++;
  }
  await taken;
  assert.ok(turns >= 20, `${turns} turns`);
});

test('nothing is claimed for a tenant that is held back, and an idle session does not spin over its mail', async () => {
  let isHeldBack = true;
  let asked = 0;
  const { site, clock, claims } = openSite({
    isHeldBack() {
      asked++;
      assert.ok(asked < 1_000, 'asked without an end');
      return isHeldBack;
    },
  });
  site.add(queue('a.example', holding('msg_1')));
  assert.equal(await takeFrom(site), undefined);
  let taken: string | undefined;
  void site.take(IDLE_MS, slot()).then((claimed) => {
    taken = claimed?.message.id;
  });
  await clock.advance(IDLE_MS - 1);
  assert.deepEqual([claims, taken], [[], undefined]);
  isHeldBack = false;
  site.wake();
  await turn();
  assert.equal(taken, 'msg_1');
});

test('a claim ends when its queues are exhausted, even while another tenant is held back', async () => {
  const { site } = openSite({ isHeldBack: (tenantId) => tenantId === 'ten_2' });
  site.add(queue('a.example', holding('msg_1')));
  site.add(queue('b.example', holding('msg_2'), { tenantId: 'ten_2' }));
  assert.equal(await takeFrom(site), 'msg_1');
  assert.equal(await takeFrom(site), undefined);
});

test('mail of the installation uses the connections of the tenant whose queue it waits in', async () => {
  const waiting = { id: 'rcp_1', queue: 'live transactional ten_2 a.example' };
  const { site } = openSite({}, [waiting]);
  site.add(queue('a.example', holding('msg_1', 'msg_2'), { tenantId: 'ten_2' }));
  const taking = slot();
  await site.take(0, taking);
  assert.equal(taking.charge?.tenantId, 'ten_2');
  assert.deepEqual([...new Set(site.tenants())], ['ten_2']);
  assert.deepEqual([site.hasMailOf('ten_2'), site.hasMailOf('ten_1')], [true, false]);
});

test('an idle session whose last delivery is not settled is not dismissed', async () => {
  const { site } = openSite();
  site.add(queue('a.example', holding('msg_1')));
  const busy = slot();
  const claim = await site.take(0, busy);
  assert.ok(claim);
  const idle = site.take(IDLE_MS, busy);
  await turn();
  assert.equal(site.dismissIdle(), false);
  site.settled(claim.id);
  assert.equal(site.dismissIdle(), true);
  assert.equal(await idle, undefined);
});

test('a claim is plain data, and the slot that it counts for is released by its id, once', async () => {
  const { site } = openSite();
  site.add(queue('a.example', holding('msg_1', 'msg_2')));
  const busy = slot();
  const [first, second] = [await site.take(0, busy), await site.take(0, busy)];
  assert.ok(first && second);
  const copies = structuredClone([first, second]);
  assert.deepEqual(copies, [first, second]);
  void site.take(IDLE_MS, busy);
  await turn();
  for (const { id } of [first, first, first]) site.settled(id);
  assert.ok(busy.charge, 'the second claim is not settled');
  site.settled(second.id);
  assert.equal(busy.charge, undefined);
});

test('when the daemon stops nothing more is sent, and what was put back is not being sent', async () => {
  const recipients = ['rcp_1', 'rcp_2'].map((id) => ({ id }));
  const { site } = openSite({}, recipients);
  site.add(queue('a.example', holding('msg_1', 'msg_2')));
  const [first, second] = [await site.take(0, slot()), await site.take(0, slot())];
  assert.ok(first && second);
  assert.equal(site.startSending(first), true);
  assert.deepEqual(site.sendingRecipientIds, ['rcp_1', 'rcp_2']);
  site.putBack({ ...first, recipients: first.recipients.slice(0, 1), tries: 1 });
  assert.deepEqual(site.sendingRecipientIds, ['rcp_2']);
  site.abandon();
  assert.equal(site.startSending(second), false);
  site.putBack(first);
  assert.equal(await takeFrom(site), undefined, 'nothing is taken up again');
});

test('a site with a rate claims no more than that, and goes on by itself when time has passed', async () => {
  const wakes: number[] = [];
  const { site, clock, claims } = openSite(
    { onChange: () => wakes.push(clock.elapsed()) },
    [{ id: 'rcp_1' }],
    60,
  );
  const messages = ['m1', 'm2', 'm3'];
  site.add(queue('a.example', async () => messages));
  assert.equal(await takeFrom(site), 'm1');
  assert.equal(await takeFrom(site), undefined, 'nothing more is claimed within the second');
  assert.equal(claims.length, 1);
  wakes.length = 0;
  await clock.advance(1_000);
  assert.deepEqual(wakes, [1_000]);
  messages.shift();
  assert.equal(await takeFrom(site), 'm2');
});
