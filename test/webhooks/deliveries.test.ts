import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExpirySlice } from '../../src/db/expiry.ts';
import { firstIdAt, firstKeptId, type Id } from '../../src/system/ids.ts';
import { endPending, expireDeliveries } from '../../src/webhooks/deliveries/store.ts';
import { listDeliveries } from '../../src/webhooks/log/store.ts';
import { explain } from '../support/explain.ts';
import { shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const DAY = 86_400_000;
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const list = (world: WebhookWorld, id: string, query = '') =>
  world.test.request('GET', `/v1/webhooks/${id}/deliveries${query}`);
const settled = (world: WebhookWorld) =>
  until(world, 'every post was answered', async () => {
    const rows = await world.deliveries();
    return rows.length > 0 && rows.every((row) => row.responseStatus !== null || row.error !== null);
  });

test('a delivery shows what it was about, what was answered, and when it is tried again', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const gate = Promise.withResolvers<void>();
    world.answer(async () => {
      await gate.promise;
      return { status: 503, body: Buffer.from('Wartung für Minuten') };
    });
    const eventId = await world.record();
    world.start();
    await until(world, 'it is under way', () => world.posts.length === 1);
    const [delivery] = await world.deliveries();
    const shown = {
      ...{ id: delivery?.id, eventId, eventType: 'email.delivered', status: 'pending', attempts: 1 },
      ...{ responseStatus: null, responseTimeMs: null, responseBody: null, error: null },
      ...{ nextAttemptAt: null, createdAt: iso(world.startMs) },
    };
    const underWay = await list(world, id);
    assert.deepEqual(
      [underWay.status, underWay.body],
      [200, { data: [shown], hasMore: false, nextCursor: null }],
    );
    await world.clock.advance(250);
    gate.resolve();
    await settled(world);
    assert.deepEqual((await list(world, id)).body.data, [
      {
        ...shown,
        ...{ responseStatus: 503, responseTimeMs: 250, responseBody: 'Wartung für Minuten' },
        error: 'The receiver answered 503',
        nextAttemptAt: iso(world.startMs + 250 + 5_000),
      },
    ]);
    world.answer(() => ({ body: Buffer.from('ok') }));
    await world.clock.advance(5_000);
    await until(world, 'it is delivered', async () => (await world.deliveries())[0]?.state === 'delivered');
    assert.deepEqual((await list(world, id)).body.data, [
      {
        ...{ ...shown, status: 'delivered', attempts: 2 },
        ...{ responseStatus: 200, responseTimeMs: 0, responseBody: 'ok' },
      },
    ]);
  }));

test('a post without an answer has no response, but an error', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    world.answer(
      () =>
        new Error(
          'write EPROTO 40A7F1D2B77F0000:error:0A00010B:SSL routines:tls_get_more_records:wrong version number:../deps/openssl/tls_common.c:354:\n',
        ),
    );
    await world.record();
    world.start();
    await settled(world);
    const [shown] = (await list(world, id)).body.data;
    const { responseStatus, responseTimeMs, responseBody, error } = shown;
    assert.deepEqual(
      [responseStatus, responseTimeMs, responseBody, error],
      [null, null, null, 'write EPROTO wrong version number'],
    );
  }));

const BODIES: [name: string, body: Buffer, shown: string, truncated?: true][] = [
  ['is text', Buffer.from('{"ok":true}\n'), '{"ok":true}'],
  ['is empty', Buffer.alloc(0), ''],
  ['holds octets that are not UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\ufffd\ufffdb'],
  ['has lines', Buffer.from('one\r\ntwo'), 'one two'],
  ['holds characters that hide or reorder text', Buffer.from('a\0\x1b[31m\u202eb\u200bc'), 'a[31mbc'],
  ['ends within a character', Buffer.from([0x61, 0xc3]), 'a\ufffd'],
  ['was cut within a character', Buffer.from([0x61, 0xc3]), 'a', true],
  ['was cut between characters', Buffer.from('aé'), 'aé', true],
];
for (const [name, body, shown, truncated = false] of BODIES) {
  test(`a response body that ${name} is kept as text`, () =>
    inWorld(async (world) => {
      world.answer(() => ({ status: 200, body, truncated }));
      const { id } = await world.begin();
      await settled(world);
      assert.equal((await list(world, id)).body.data[0].responseBody, shown);
    }));
}

const STATES = ['pending', 'delivered', 'failed', 'skipped'] as const;

/** One of each state and endpoint, in turns: the oldest first. */
async function fill(world: WebhookWorld, endpoints: readonly Id<'wh'>[], rounds: number): Promise<void> {
  const eventId = await world.record();
  const round = STATES.flatMap((state) => endpoints.map((endpointId) => ({ state, endpointId, eventId })));
  const rows = Array(rounds)
    .fill(round)
    .flat()
    .map((row, index) => ({
      ...{ ...row, createdAt: world.startMs - DAY + index + 1, attempts: 1 },
      dueAt: row.state === 'pending' ? world.startMs + DAY : null,
    }));
  await world.addDeliveries(...rows);
}

test('deliveries are listed newest first, in pages, by state, and of one endpoint', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { id: other } = await world.createEndpoint();
    await fill(world, [id, other], 3);
    const rows = (await world.deliveries()).filter((row) => row.endpointId === id).reverse();
    const ids = rows.map((row) => row.id);
    const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map((item) => item.id);

    assert.deepEqual(idsOf(await list(world, id)), ids);
    const first = await list(world, id, '?limit=5');
    assert.deepEqual(
      [idsOf(first), first.body.hasMore, first.body.nextCursor],
      [ids.slice(0, 5), true, ids[4]],
    );
    assert.deepEqual(idsOf(await list(world, id, `?limit=5&startingAfter=${ids[4]}`)), ids.slice(5, 10));
    assert.deepEqual(idsOf(await list(world, id, `?limit=2&endingBefore=${ids[4]}`)), ids.slice(2, 4));
    for (const state of STATES) {
      const ofState = rows.filter((row) => row.state === state).map((row) => row.id);
      assert.deepEqual(idsOf(await list(world, id, `?status=${state}`)), ofState);
      const next = await list(world, id, `?status=${state}&limit=1&startingAfter=${ofState[0]}`);
      assert.deepEqual([idsOf(next), next.body.hasMore], [ofState.slice(1, 2), true]);
    }
    const madeAt = (index: number) => encodeURIComponent(iso(rows[index]?.createdAt ?? 0));
    assert.deepEqual(idsOf(await list(world, id, `?createdAfter=${madeAt(3)}`)), ids.slice(0, 4));
    assert.deepEqual(idsOf(await list(world, id, `?createdBefore=${madeAt(3)}`)), ids.slice(4));
    assert.deepEqual(
      idsOf(await list(world, id, `?createdAfter=${madeAt(9)}&createdBefore=${madeAt(3)}&status=failed`)),
      rows.slice(4, 10).flatMap((row) => (row.state === 'failed' ? [row.id] : [])),
    );
    for (const query of ['?status=sent', '?status=', '?limit=0', '?limit=101', '?startingAfter=wh_1']) {
      assert.equal((await list(world, id, query)).status, 400, query);
    }
    const both = await list(world, id, `?startingAfter=${ids[1]}&endingBefore=${ids[2]}`);
    assert.deepEqual([both.status, both.body.error.param], [400, 'endingBefore']);
  }));

const PAGES: Record<string, object> = {
  'the first page': {},
  'a later page': { startingAfter: 'whd_5' },
  'an earlier page': { endingBefore: 'whd_5' },
  'a range of time': { from: firstIdAt('whd', 1), until: firstIdAt('whd', 9) },
  'a page in a range of time': { startingAfter: 'whd_5', from: 'whd_1', until: 'whd_9' },
};
for (const [name, page] of Object.entries(PAGES)) {
  for (const state of [undefined, 'failed'] as const) {
    test(`${name} ${state === undefined ? 'of all' : 'of one state'} is read from an index and not sorted`, async () => {
      const plan = await explain((tx) => listDeliveries(tx, 'wh_1', { limit: 10, ...page, state }));
      const index = state === undefined ? 'webhookDeliveriesByEndpoint' : 'webhookDeliveriesByState';
      const bounds = Object.keys(page).length === 0 ? '' : ' AND id';
      const keys = state === undefined ? 'endpointId=?' : 'endpointId=? AND state=?';
      assert.ok(
        plan.some((line) => line.includes(`USING INDEX ${index} (${keys}${bounds}`)),
        plan.join('\n'),
      );
      assert.ok(!plan.some((line) => line.includes('TEMP B-TREE')), plan.join('\n'));
    });
  }
}

/** Deletes in slices what retention deletes. */
async function expireOld(world: WebhookWorld): Promise<void> {
  const before = firstKeptId('whd', world.clock.now(), world.test.app.config.retention.webhookDays);
  let after: string | undefined = '';
  for (let slices = 0; after !== undefined && slices < 100; slices++) {
    const slice: ExpirySlice = await world.test.app.db.commit(expireDeliveries, { after, before, rows: 250 });
    after = slice.next;
  }
}

test('deliveries that have ended are kept for 30 days, and their events after that', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const eventId = await world.record();
    const ages = [31 * DAY, 30 * DAY + 1, 30 * DAY - 1, DAY];
    const aged = (age: number, state: (typeof STATES)[number]) => ({
      ...{ endpointId: id, eventId, state, attempts: 1, createdAt: world.startMs - age },
    });
    const skipped = Array.from({ length: 1_200 }, () => aged(40 * DAY, 'skipped'));
    await world.addDeliveries(...STATES.flatMap((state) => ages.map((age) => aged(age, state))), ...skipped);
    await expireOld(world);
    const kept = await world.deliveries();
    const pending = kept
      .filter(({ state }) => state === 'pending')
      .map((row) => world.startMs - row.createdAt);
    assert.deepEqual(pending, ages, 'a delivery that is still pending is kept');
    const ended = kept.filter(({ state }) => state !== 'pending').map((row) => world.startMs - row.createdAt);
    assert.deepEqual(ended, [...Array(3).fill(30 * DAY - 1), ...Array(3).fill(DAY)]);
    assert.equal((await world.side.selectFrom('events').select('id').execute()).length, 1);
  }));

test('the operator sets how long deliveries are kept, and thereby which of them are replayed', () =>
  inWorld(
    async (world) => {
      const { id } = await world.createEndpoint();
      const eventId = await world.record();
      const failed = { endpointId: id, eventId, state: 'failed', attempts: 1 } as const;
      const ages = [7 * DAY + 1, 7 * DAY, 7 * DAY - 1];
      await world.addDeliveries(...ages.map((age) => ({ ...failed, createdAt: world.startMs - age })));
      const replay = await world.test.request('POST', `/v1/webhooks/${id}/replay`, {
        body: { since: iso(world.startMs - 30 * DAY) },
      });
      assert.deepEqual([replay.status, replay.body.count], [202, 2]);
      await expireOld(world);
      const kept = (await world.deliveries()).map((row) => world.startMs - row.createdAt);
      assert.deepEqual(kept, [7 * DAY, 7 * DAY - 1], 'both are replayed, and kept until then');
    },
    { env: { POSTRIDER_RETENTION_WEBHOOK_DAYS: '7' } },
  ));

test('disabling ends no more than five hundred deliveries at once, the longest due first; the others end as they fall due', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const eventId = await world.record();
    const due = (index: number) => ({ endpointId: id, eventId, dueAt: world.startMs + index });
    const rows = Array.from({ length: 600 }, (_, index) => due(index));
    await world.addDeliveries(...rows);
    await world.test.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const left = (await world.deliveries()).filter((row) => row.state === 'pending');
    assert.deepEqual(
      left.map((row) => row.dueAt).sort(),
      rows.slice(500).map((row) => row.dueAt),
    );
    await world.side.updateTable('events').set({ fannedOut: 1 }).execute();
    world.start();
    await world.clock.advance(600);
    await until(world, 'all have ended', async () =>
      (await world.deliveries()).every((row) => row.state === 'skipped'),
    );
    assert.equal(world.posts.length, 0);
  }));

test('ending what waits is read from the index of what is pending', async () => {
  const plan = await explain((tx) => endPending(tx, 'wh_1', 'disabled'));
  assert.ok(
    plan.some((line) => line.includes('INDEX tasksByDue')),
    plan.join('\n'),
  );
});
