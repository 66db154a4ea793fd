/** What a put does, which other features call inside their own writes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import {
  deleteContactsOf,
  findContact,
  getContact,
  putContact,
  type WantedContact,
  withLiveTopics,
} from '../../../src/audiences/contacts/store.ts';
import { insertAudience } from '../../../src/audiences/store.ts';
import type { ContactRow } from '../../../src/db/marketing-tables.ts';
import { AppError } from '../../../src/system/errors.ts';
import { type Id, newId } from '../../../src/system/ids.ts';
import { insertTenant } from '../../../src/tenants/store.ts';
import { deleteTopic, insertTopic } from '../../../src/topics/store.ts';
import { openMemoryDatabase } from '../../support/memory-database.ts';

const NOW = 1_800_000_000_000;
const { tx, database, close } = openMemoryDatabase();
after(close);

async function addTenant(): Promise<Id<'ten'>> {
  const id = newId('ten', NOW);
  await insertTenant.run(tx, { id, name: id, plan: 'unlimited', createdAt: NOW });
  return id;
}

async function addAudience(tenantId: Id<'ten'>): Promise<Id<'aud'>> {
  const id = newId('aud', NOW);
  const times = { createdAt: NOW, updatedAt: NOW, deletedAt: null, optIn: null };
  await insertAudience.run(tx, { id, tenantId, name: 'a', contactCount: 0, ...times });
  return id;
}

async function addTopic(tenantId: Id<'ten'>): Promise<Id<'top'>> {
  const id = newId('top', NOW);
  const times = { createdAt: NOW, updatedAt: NOW };
  await insertTopic.run(tx, { id, tenantId, name: 't', description: null, defaultOptIn: 1, ...times });
  return id;
}

const tenantId = await addTenant();
const audienceId = await addAudience(tenantId);
const topicId = await addTopic(tenantId);

let made = 0;
function wanted(fields: Partial<WantedContact> = {}): WantedContact {
  const email = `reader${++made}@example.com`;
  return { id: newId('ct', NOW), tenantId, audienceId, email, now: NOW, ...fields };
}

function countOf(id: string): number {
  const row = database.prepare('SELECT contactCount FROM audiences WHERE id = ?').get(id);
  return (row as { contactCount: number }).contactCount;
}

test('a new contact is created as said, and counted', async () => {
  const before = countOf(audienceId);
  const asked = wanted({
    email: 'Ada@Example.com',
    firstName: 'Ada',
    properties: { plan: 'pro', gone: null },
  });
  const { outcome, contact } = await putContact(tx, asked, 'skip');
  assert.equal(outcome, 'created');
  const expected: ContactRow = {
    id: asked.id,
    tenantId,
    audienceId,
    email: 'Ada@Example.com',
    address: 'ada@example.com',
    firstName: 'Ada',
    lastName: null,
    unsubscribed: 0,
    unsubscribedAt: null,
    createdAt: NOW,
    updatedAt: NOW,
    topics: '{}',
    properties: '{"plan":"pro"}',
    pending: 0,
    consent: null,
  };
  assert.deepEqual(contact, expected);
  assert.deepEqual(await getContact(tx, tenantId, { audienceId, idOrAddress: asked.id }), expected);
  assert.equal(countOf(audienceId), before + 1);
});

test('a put that says nothing new is unchanged, and one that skips changes nothing', async () => {
  const first = wanted({ firstName: 'Eve', properties: { a: 1 } });
  const { contact: stored } = await putContact(tx, first, 'update');
  const same = await putContact(tx, { ...first, id: newId('ct', NOW), now: NOW + 1 }, 'update');
  assert.deepEqual([same.outcome, same.contact], ['unchanged', stored]);
  const skipped = await putContact(tx, { ...first, firstName: 'Mallory', now: NOW + 1 }, 'skip');
  assert.deepEqual([skipped.outcome, skipped.contact], ['skipped', stored]);
  assert.deepEqual(await getContact(tx, tenantId, { audienceId, idOrAddress: stored.id }), stored);
});

test('a put may unsubscribe, at its own time, and opt out', async () => {
  const reader = wanted({ topics: { [topicId]: true } });
  await putContact(tx, reader, 'update');
  const leaving = { ...reader, unsubscribed: true, topics: { [topicId]: false }, now: NOW + 7 };
  const { contact } = await putContact(tx, leaving, 'update');
  assert.deepEqual(
    [contact.unsubscribed, contact.unsubscribedAt, contact.topics],
    [1, NOW + 7, JSON.stringify({ [topicId]: false })],
  );
  const again = await putContact(tx, { ...leaving, now: NOW + 8 }, 'update');
  assert.deepEqual([again.outcome, again.contact.unsubscribedAt], ['unchanged', NOW + 7]);
});

test('choices of topics that do not exist, are deleted or belong to others are not kept, and not shown', async () => {
  const mine = await addTopic(tenantId);
  const foreign = await addTopic(await addTenant());
  const choices = { [mine]: true, [foreign]: true, [newId('top', NOW)]: true };
  const reader = wanted({ topics: choices });
  const { contact } = await putContact(tx, reader, 'update');
  assert.equal(contact.topics, JSON.stringify({ [mine]: true }));
  await deleteTopic.run(tx, { tenantId, approval: null, id: mine });
  assert.deepEqual(
    (await withLiveTopics(tx, tenantId, [contact])).map(({ topics }) => topics),
    ['{}'],
  );
  const { contact: later } = await putContact(tx, { ...reader, topics: { [topicId]: true } }, 'update');
  assert.equal(later.topics, JSON.stringify({ [topicId]: true }));
});

test('a put that is refused for its properties has written nothing', async () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));
  const reader = wanted({ properties: many });
  const { contact: stored } = await putContact(tx, reader, 'update');
  const count = countOf(audienceId);
  const limitReached = { ...many, one: 1 };
  for (const asked of [
    { ...reader, firstName: 'x', properties: { one: 1 } },
    wanted({ properties: limitReached }),
  ]) {
    await assert.rejects(putContact(tx, asked, 'update'), AppError);
  }
  assert.deepEqual(await getContact(tx, tenantId, { audienceId, idOrAddress: stored.id }), stored);
  assert.equal(countOf(audienceId), count);
});

test('one address may stand in several audiences and tenants; each finds its own', async () => {
  const [tenant2, audience2] = [await addTenant(), await addAudience(tenantId)];
  const audience3 = await addAudience(tenant2);
  const email = 'shared@example.com';
  const places = [
    wanted({ email }),
    wanted({ email, audienceId: audience2 }),
    wanted({ email, audienceId: audience3, tenantId: tenant2 }),
  ];
  for (const place of places) assert.equal((await putContact(tx, place, 'skip')).outcome, 'created');
  for (const place of places) {
    for (const name of [place.id, 'SHARED@example.com']) {
      const found = await findContact(tx, place.tenantId, {
        audienceId: place.audienceId,
        idOrAddress: name,
      });
      assert.equal(found?.id, place.id);
    }
  }
  for (const [tenant, audience, id] of [
    [tenant2, audienceId, places[0]?.id],
    [tenantId, audience2, places[0]?.id],
    [tenant2, audience2, places[1]?.id],
  ] as const) {
    assert.equal(await findContact(tx, tenant, { audienceId: audience, idOrAddress: id ?? '' }), undefined);
  }
});

test('any history of puts ends as a plain model of it does', async () => {
  const audience = await addAudience(tenantId);
  const step = fc.record(
    {
      email: fc.constantFrom('a@m.example', 'A@M.example', 'b@m.example'),
      firstName: fc.option(fc.constantFrom('x', 'y')),
      unsubscribed: fc.boolean(),
      opts: fc.boolean(),
      plan: fc.option(fc.constantFrom('p', 'q')),
      onConflict: fc.constantFrom('update' as const, 'skip' as const),
    },
    { requiredKeys: ['email', 'onConflict'] },
  );
  type Known = { firstName: string | null; unsubscribed: boolean; opts?: boolean; plan?: string };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await deleteContactsOf(tx, audience, Number.MAX_SAFE_INTEGER);
      database.prepare('UPDATE audiences SET contactCount = 0 WHERE id = ?').run(audience);
      const model = new Map<string, Known>();
      for (const { email, firstName, unsubscribed, opts, plan, onConflict } of steps) {
        const asked = wanted({
          ...{ email, audienceId: audience },
          ...(firstName !== undefined && { firstName }),
          ...(unsubscribed !== undefined && { unsubscribed }),
          ...(opts !== undefined && { topics: { [topicId]: opts } }),
          ...(plan !== undefined && { properties: { plan } }),
        });
        await putContact(tx, asked, onConflict);
        const known = model.get(email.toLowerCase());
        if (known && onConflict === 'skip') continue;
        const next: Known = known ?? { firstName: null, unsubscribed: false };
        if (firstName !== undefined) next.firstName = firstName;
        if (unsubscribed) next.unsubscribed = true;
        if (opts !== undefined && next.opts !== false) next.opts = opts;
        if (plan === null) delete next.plan;
        else if (plan !== undefined) next.plan = plan;
        model.set(email.toLowerCase(), next);
      }
      assert.equal(countOf(audience), model.size);
      for (const [email, known] of model) {
        const row = await getContact(tx, tenantId, { audienceId: audience, idOrAddress: email });
        const topics = known.opts === undefined ? {} : { [topicId]: known.opts };
        const properties = known.plan === undefined ? {} : { plan: known.plan };
        assert.deepEqual(
          [row.firstName, row.unsubscribed === 1, JSON.parse(row.topics), JSON.parse(row.properties)],
          [known.firstName, known.unsubscribed, topics, properties],
        );
      }
    }),
    { seed: 20_260_302, numRuns: 50 },
  );
});
