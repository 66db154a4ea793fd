/** Mail with a tag is counted in slices: each email once, whatever the sizes of slices, and only what happened in time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recount } from '../../src/statistics/recount/store.ts';
import { firstIdAt, newId } from '../../src/system/ids.ts';
import { explain } from '../support/explain.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';
import { messageRow } from '../support/message-row.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-01T00:00:00Z');

type Query = Parameters<typeof recount.run>[1];
const query: Query = {
  ...{
    tenantId: 'ten_a',
    mode: 'live',
    span: 'hour',
    from: START,
    until: START + 2 * HOUR_MS,
    groupBy: null,
  },
  ...{ filter: { visibleDomainId: null }, tags: [{ key: 'a', value: 'b:c' }], after: null },
};

const EMAIL = { at: START, tenantId: 'ten_a', domainId: 'dom_a', key: 'a', value: 'b:c', recipients: 1 };

function openTagged() {
  const { database, tx, close } = openMemoryDatabase();
  database.pragma('foreign_keys = OFF');
  const message = database.prepare(
    `INSERT INTO messages (id, tenantId, mode, kind, status, sender, domainId, headerBytes, bodyHash, datedAt,
       createdAt, expiresAt, lastEventAt) VALUES (?, ?, 'live', 'transactional', 'sent', '', ?, 0, '', 0, 0, 0, 0)`,
  );
  const tag = database.prepare(`INSERT INTO emailTags VALUES (?, 'live', ?, ?, ?)`);
  const event = database.prepare(
    `INSERT INTO events (id, tenantId, mode, type, emailId, data, createdAt, fannedOut) VALUES (?, 'ten_a', 'live', ?, ?, ?, ?, 1)`,
  );
  return {
    tx,
    close,
    /** Adds an email with a number of recipients, and two events for each of them. */
    add(email: Partial<typeof EMAIL> & { deliveredAt?: number }) {
      const { at, tenantId, domainId, key, value, recipients } = { ...EMAIL, ...email };
      const { deliveredAt = at } = email;
      const id = newId('em', at);
      message.run(id, tenantId, domainId);
      tag.run(tenantId, key, value, id);
      for (let index = 0; index < recipients; index++) {
        const data = JSON.stringify({ to: `r${index}@gmail.com` });
        event.run(newId('evt', at), 'email.queued', id, data, at);
        event.run(newId('evt', deliveredAt), 'email.delivered', id, data, deliveredAt);
      }
    },
    /** Reads all slices, and returns how many there were and what they add up to. */
    async count(more: Partial<Query> = {}) {
      const sums = { slices: 0, accepted: 0, delivered: 0 };
      let after: Query['after'] = null;
      do {
        const { spans, next }: Awaited<ReturnType<typeof recount.run>> = await recount.run(tx, {
          ...query,
          ...more,
          after,
        });
        sums.slices++;
        for (const { accepted, delivered } of spans) {
          sums.accepted += accepted;
          sums.delivered += delivered;
        }
        after = next;
      } while (after !== null);
      return sums;
    },
  };
}

test('emails are counted 250 at a time, each once', async () => {
  const tagged = openTagged();
  for (let index = 0; index < 501; index++) tagged.add({ at: START + index });
  assert.deepEqual(await tagged.count(), { slices: 3, accepted: 501, delivered: 501 });
  tagged.close();
});

test('a slice ends early when its emails have many events', async () => {
  const tagged = openTagged();
  for (let index = 0; index < 25; index++) tagged.add({ at: START + index, recipients: 50 });
  assert.deepEqual(await tagged.count(), { slices: 3, accepted: 1_250, delivered: 1_250 });
  tagged.close();
});

test('a tag with several colons has several meanings, and each email counts once', async () => {
  const tagged = openTagged();
  for (let index = 0; index < 300; index++)
    tagged.add({ at: START + index, ...(index % 2 === 0 ? {} : { key: 'a:b', value: 'c' }) });
  const tags = [
    { key: 'a', value: 'b:c' },
    { key: 'a:b', value: 'c' },
  ];
  assert.equal((await tagged.count({ tags })).accepted, 300);
  assert.equal((await tagged.count()).accepted, 150);
  tagged.close();
});

test('mail of others, of other times and of other domains is not counted', async () => {
  const tagged = openTagged();
  tagged.add({ deliveredAt: START + 2 * HOUR_MS });
  tagged.add({ at: START - 1 });
  tagged.add({ at: START + 2 * HOUR_MS });
  tagged.add({ tenantId: 'ten_b' });
  tagged.add({ domainId: 'dom_b' });
  assert.deepEqual(await tagged.count(), { slices: 1, accepted: 2, delivered: 1 });
  const limited = { filter: { visibleDomainId: 'dom_b' } } as const;
  assert.deepEqual(await tagged.count(limited), { slices: 1, accepted: 1, delivered: 1 });
  const none = { filter: { visibleDomainId: 'dom_b', domainId: 'dom_a' } } as const;
  assert.equal((await tagged.count(none)).accepted, 0);
  tagged.close();
});

test('emails, messages and events are found by their keys, and nothing is sorted', async () => {
  const plan = await explain(async (tx) => {
    const owner = { tenantId: 'ten_a', mode: 'live' } as const;
    const emailId = firstIdAt('em', START + 1);
    await tx
      .insertInto('emailTags')
      .values({ ...owner, key: 'a', value: 'b:c', emailId })
      .execute();
    await tx
      .insertInto('messages')
      .values(messageRow({ ...owner, id: emailId, status: 'sent' }))
      .execute();
    await recount.run(tx, query);
  });
  for (const walk of [
    /^SEARCH emailTags USING PRIMARY KEY \(tenantId=\? AND mode=\? AND key=\? AND value=\? AND emailId>\? AND emailId<\?\)$/,
    /^SEARCH messages USING INDEX sqlite_autoindex_messages_1 \(id=\?\)$/,
    /^SEARCH events USING INDEX eventsByEmail \(emailId=\?\)$/,
  ])
    assert.ok(
      plan.some((line) => walk.test(line)),
      plan.join('\n'),
    );
  assert.deepEqual(
    plan.filter((line) => line.includes('TEMP B-TREE')),
    [],
  );
});
