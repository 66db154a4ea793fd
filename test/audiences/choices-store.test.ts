/** Who gets mail of a topic, and that what is kept of it is what the contacts say, whatever becomes of them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { findOptedOut } from '../../src/audiences/choices-store.ts';
import { changeContact, deleteContact } from '../../src/audiences/contacts/change.ts';
import { deleteContactsOf, putContact, type WantedContact } from '../../src/audiences/contacts/store.ts';
import { clearDeleted, deleteAudience } from '../../src/audiences/delete.ts';
import { hideAudience, insertAudience } from '../../src/audiences/store.ts';
import { AppError } from '../../src/system/errors.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { deleteTopic, insertTopic } from '../../src/topics/store.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const NOW = 1_800_000_000_000;
const { tx, close } = openMemoryDatabase();
after(close);

type TenantId = Id<'ten'>;
type TopicId = Id<'top'>;

async function addTenant(db = tx): Promise<TenantId> {
  const id = newId('ten', NOW);
  await insertTenant.run(db, { id, name: id, plan: 'unlimited', createdAt: NOW });
  return id;
}

async function addAudience(tenant: TenantId, db = tx): Promise<Id<'aud'>> {
  const id = newId('aud', NOW);
  const times = { createdAt: NOW, updatedAt: NOW, deletedAt: null, optIn: null };
  await insertAudience.run(db, { id, tenantId: tenant, name: 'a', contactCount: 0, ...times });
  return id;
}

async function addTopic(tenant: TenantId, db = tx): Promise<TopicId> {
  const id = newId('top', NOW);
  const times = { createdAt: NOW, updatedAt: NOW };
  await insertTopic.run(db, {
    id,
    tenantId: tenant,
    name: 't',
    description: null,
    defaultOptIn: 1,
    ...times,
  });
  return id;
}

const tenantId = await addTenant();
const audienceId = await addAudience(tenantId);
const [topicId, other] = [await addTopic(tenantId), await addTopic(tenantId)];

const put = (email: string, fields: Partial<WantedContact> = {}) =>
  putContact(tx, { id: newId('ct', NOW), tenantId, audienceId, email, now: NOW, ...fields }, 'update');

test('the table of choices decides who gets mail of a topic', async () => {
  const tenant2 = await addTenant();
  const [audience2, audience3] = [await addAudience(tenantId), await addAudience(tenant2)];
  await put('silent@t.example', { topics: { [other]: false } });
  await put('in@t.example', { topics: { [topicId]: true } });
  await put('out@t.example', { topics: { [topicId]: false } });
  await put('gone@t.example', { unsubscribed: true, topics: { [topicId]: true } });
  await put('in-here-gone-there@t.example', { topics: { [topicId]: true } });
  await put('in-here-gone-there@t.example', { audienceId: audience2, unsubscribed: true });
  await put('in-here-out-there@t.example', { topics: { [topicId]: true } });
  await put('in-here-out-there@t.example', { audienceId: audience2, topics: { [topicId]: false } });
  await put('in-here-silent-there@t.example', { topics: { [topicId]: true } });
  await put('in-here-silent-there@t.example', { audienceId: audience2 });
  await put('gone-elsewhere@t.example', { tenantId: tenant2, audienceId: audience3, unsubscribed: true });
  const addresses = [
    ...['silent', 'in', 'out', 'gone', 'in-here-gone-there', 'in-here-out-there', 'in-here-silent-there'],
    ...['gone-elsewhere', 'nobody'],
  ].map((name) => `${name}@t.example`);
  const asked = [...addresses, 'OUT@T.example'];
  const names = async (defaultOptIn: boolean) =>
    [...(await findOptedOut(tx, tenantId, { topicId, defaultOptIn, addresses: asked }))].map(
      (address) => address.split('@')[0],
    );
  const always = ['out', 'gone', 'in-here-gone-there', 'in-here-out-there'];
  assert.deepEqual(await names(true), always);
  assert.deepEqual(new Set(await names(false)), new Set([...always, 'silent', 'gone-elsewhere', 'nobody']));
});

test('contacts of a deleted audience say nothing any more', async () => {
  const audience = await addAudience(tenantId);
  const [email, keen] = ['deleted@t.example', 'keen@t.example'];
  await put(email, { audienceId: audience, unsubscribed: true });
  await put(keen, { audienceId: audience, topics: { [topicId]: true } });
  const out = async (defaultOptIn: boolean) => [
    ...(await findOptedOut(tx, tenantId, { topicId, defaultOptIn, addresses: [email, keen] })),
  ];
  assert.deepEqual([await out(true), await out(false)], [[email], [email]]);
  await hideAudience(tx, audience, NOW);
  assert.deepEqual([await out(true), await out(false)], [[], [email, keen]]);
});

test('an opt-out is found behind contacts of deleted audiences', async () => {
  const email = 'often@t.example';
  for (let round = 0; round < 3; round++) {
    const audience = await addAudience(tenantId);
    await put(email, { audienceId: audience, unsubscribed: true });
    await hideAudience(tx, audience, NOW);
  }
  const out = async () =>
    (await findOptedOut(tx, tenantId, { topicId, defaultOptIn: true, addresses: [email] })).size;
  assert.equal(await out(), 0);
  await put(email, { audienceId: await addAudience(tenantId), unsubscribed: true });
  assert.equal(await out(), 1);
});

test('finding the choice of an address in many audiences reads one row', async () => {
  const crowded = openMemoryDatabase();
  let rows = 0;
  const prepare = crowded.database.prepare.bind(crowded.database);
  crowded.database.prepare = ((sql: string) => {
    const statement = prepare(sql);
    const all = statement.all.bind(statement);
    return Object.assign(statement, {
      all: (values: unknown[]) => {
        const read = all(values);
        rows += read.length;
        return read;
      },
    });
  }) as typeof prepare;
  const tenant = await addTenant(crowded.tx);
  const topic = await addTopic(tenant, crowded.tx);
  for (let count = 0; count < 20; count++) {
    const place = { tenantId: tenant, audienceId: await addAudience(tenant, crowded.tx), now: NOW };
    for (const [email, fields] of [
      ['gone@t.example', { unsubscribed: true }],
      ['out@t.example', { topics: { [topic]: false } }],
      ['in@t.example', { topics: { [topic]: true } }],
    ] as const) {
      await putContact(crowded.tx, { ...place, id: newId('ct', NOW), email, ...fields }, 'update');
    }
  }
  for (const [name, out] of [
    ['gone', 1],
    ['out', 1],
    ['in', 0],
  ] as const) {
    rows = 0;
    const question = { topicId: topic, defaultOptIn: false, addresses: [`${name}@t.example`] };
    assert.equal((await findOptedOut(crowded.tx, tenant, question)).size, out);
    assert.equal(rows, 1, name);
  }
  crowded.close();
});

test('a slice of a deleted audience is bounded by the rows of its choices, too', async () => {
  const audience = await addAudience(tenantId);
  const chatty = { audienceId: audience, unsubscribed: true, topics: { [topicId]: true, [other]: false } };
  for (const at of [1, 2, 3]) await put(`${at}@slices.example`, { ...chatty, id: newId('ct', NOW + at) });
  await put('silent@slices.example', { audienceId: audience, id: newId('ct', NOW + 4) });
  const rows: number[] = [];
  for (const limit of [5, 4, 4]) rows.push(await deleteContactsOf(tx, audience, limit));
  assert.deepEqual(rows, [8, 4, 1]);
  assert.equal(await deleteContactsOf(tx, audience, 1), 0);
});

/** A tenant of its own, with audiences and topics that are made anew when they are deleted. */
type World = { tenantId: TenantId; audiences: Id<'aud'>[]; topics: [TopicId, TopicId] };

const ADDRESSES = ['a@m.example', 'A@M.example', 'b@m.example', 'c@m.example'];
const place = { audience: fc.nat({ max: 2 }), email: fc.constantFrom(...ADDRESSES) };
const said = {
  unsubscribed: fc.option(fc.boolean(), { nil: undefined }),
  topics: fc.option(fc.tuple(...[0, 1].map(() => fc.option(fc.boolean()))), { nil: undefined }),
};
const stepArbitrary = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('put' as const), ...place, ...said, skips: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant('change' as const), ...place, ...said },
      to: fc.option(fc.constantFrom(...ADDRESSES), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), audience: place.audience }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('topic' as const),
      audience: place.audience,
      which: fc.constantFrom(0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), audience: place.audience }) },
);
type Step = typeof stepArbitrary extends fc.Arbitrary<infer One> ? One : never;

/** Of a step, as a contact's fields. */
function fieldsOf(
  { topics }: World,
  step: { unsubscribed: boolean | undefined; topics: (boolean | null)[] | undefined },
) {
  const choices = step.topics?.flatMap((optIn, index) => (optIn === null ? [] : [[topics[index], optIn]]));
  return {
    ...(step.unsubscribed !== undefined && { unsubscribed: step.unsubscribed }),
    ...(choices && { topics: Object.fromEntries(choices) as Record<string, boolean> }),
  };
}

async function take(world: World, step: Step): Promise<void> {
  const audience = world.audiences[step.audience] ?? assert.fail();
  const common = { tenantId: world.tenantId, audienceId: audience, now: NOW };
  const moment = { ...common, mode: 'test' } as const;
  switch (step.kind) {
    case 'put': {
      const wanted = { ...common, id: newId('ct', NOW), email: step.email, ...fieldsOf(world, step) };
      await putContact(tx, wanted, step.skips ? 'skip' : 'update');
      return;
    }
    case 'change': {
      const fields = { ...fieldsOf(world, step), ...(step.to !== undefined && { email: step.to }) };
      await changeContact
        .run(tx, { ...moment, keyDomainId: null, idOrAddress: step.email, fields })
        .catch(refused);
      return;
    }
    case 'delete':
      await deleteContact.run(tx, { ...moment, idOrAddress: step.email }).catch(refused);
      return;
    case 'drop':
      await deleteAudience.run(tx, { tenantId: world.tenantId, id: audience, now: NOW });
      world.audiences[step.audience] = await addAudience(world.tenantId);
      return;
    case 'topic':
      await deleteTopic.run(tx, {
        tenantId: world.tenantId,
        approval: null,
        id: world.topics[step.which],
      });
      world.topics[step.which] = await addTopic(world.tenantId);
      return;
    case 'clear':
      await clearDeleted.run(tx, { limit: 2 });
  }
}

/** There is no such contact, or another with the address. */
function refused(error: unknown): void {
  if (!(error instanceof AppError)) throw error;
}

/** What all contacts of the tenant say together, read one by one. */
async function reference(world: World, topic: TopicId, defaultOptIn: boolean): Promise<Set<string>> {
  const contacts = await tx
    .selectFrom('contacts')
    .innerJoin('audiences', 'audiences.id', 'contacts.audienceId')
    .select(['address', 'unsubscribed', 'topics'])
    .where('contacts.tenantId', '=', world.tenantId)
    .where('deletedAt', 'is', null)
    .execute();
  const isOut = (address: string) => {
    const own = contacts.filter((contact) => contact.address === address);
    const choices = own.map(({ topics }) => JSON.parse(topics)[topic] as boolean | undefined);
    if (own.some(({ unsubscribed }) => unsubscribed === 1) || choices.includes(false)) return true;
    return !defaultOptIn && !choices.includes(true);
  };
  return new Set(ADDRESSES.map((address) => address.toLowerCase()).filter(isOut));
}

/** Of all contacts there are, deleted audiences' with them. */
async function expectedRows({ tenantId: tenant }: World): Promise<string[]> {
  const contacts = await tx.selectFrom('contacts').selectAll().where('tenantId', '=', tenant).execute();
  return contacts
    .flatMap(({ id, address, unsubscribed, topics }) => [
      ...(unsubscribed === 1 ? [`${address}  0 ${id}`] : []),
      ...Object.entries(JSON.parse(topics)).map(
        ([topic, optIn]) => `${address} ${topic} ${Number(optIn)} ${id}`,
      ),
    ])
    .sort();
}

async function keptRows({ tenantId: tenant }: World): Promise<string[]> {
  const rows = await tx.selectFrom('contactChoices').selectAll().where('tenantId', '=', tenant).execute();
  return rows.map((row) => `${row.address} ${row.topicId} ${row.optedIn} ${row.contactId}`).sort();
}

test('the opt-outs of an address always agree with all of its contacts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 14 }), async (steps) => {
      const tenant = await addTenant();
      const world: World = {
        tenantId: tenant,
        audiences: [],
        topics: [await addTopic(tenant), await addTopic(tenant)],
      };
      while (world.audiences.length < 3) world.audiences.push(await addAudience(tenant));
      for (const step of steps) {
        await take(world, step);
        assert.deepEqual(await keptRows(world), await expectedRows(world));
      }
      for (const topic of world.topics) {
        for (const defaultOptIn of [true, false]) {
          const question = { topicId: topic, defaultOptIn, addresses: ADDRESSES };
          assert.deepEqual(
            await findOptedOut(tx, tenant, question),
            await reference(world, topic, defaultOptIn),
          );
        }
      }
      for (const audience of world.audiences)
        await deleteAudience.run(tx, { tenantId: tenant, id: audience, now: NOW });
      while (await clearDeleted.run(tx, { limit: 2 }));
      assert.deepEqual(await keptRows(world), []);
    }),
    { seed: 20_260_302, numRuns: 70 },
  );
});
