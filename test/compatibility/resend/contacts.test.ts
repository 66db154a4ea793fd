/** Contacts, segments and topics by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../../support/fake-clock.ts';
import { storePlan } from '../../support/store-plan.ts';
import { openTestApp } from '../../support/test-app.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

/** Things that are made one after the other differ in their times, so that their order is certain. */
const clock = createFakeClock(1_800_000_000_000);
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const clientWith = await clientsOf(testApp);
const resend = clientWith();

const native = async (path: string) => (await testApp.request('GET', path)).body;
const audiencesNamed = async (name: string) =>
  (await native('/v1/audiences?limit=100')).data.filter(
    (audience: { name: string }) => audience.name === name,
  );
const emailsOf = (page: { data: { email: string }[] }) => page.data.map(({ email }) => email);

test('reading makes no audience, and first calls at the same time make one', async () => {
  const reader = clientWith(await testApp.newKey({ permission: 'read_only' }));
  assert.deepEqual((await dataOf(reader.contacts.list())).data, []);
  assert.match(
    await refusalOf(reader.contacts.get('nobody@reader.example')),
    /^404 not_found: Contact not found/,
  );
  assert.match(
    await refusalOf(reader.contacts.create({ email: 'a@reader.example' })),
    /^401 restricted_api_key/,
  );
  assert.deepEqual(await audiencesNamed('Resend contacts'), []);
  const first = ['a', 'b', 'c', 'd'].map((name) =>
    dataOf(resend.contacts.create({ email: `${name}@first.example` })),
  );
  await Promise.all([...first, dataOf(resend.segments.create({ name: 'First' }))]);
  const [audience, ...others] = await audiencesNamed('Resend contacts');
  assert.equal(audience.contactCount, 4);
  assert.deepEqual(others, []);
});

test('a contact is made, read by id and address, changed and removed', async () => {
  const { id, object } = await dataOf(
    resend.contacts.create({
      email: 'Steve+List@apple.example',
      firstName: 'Steve',
      lastName: 'Wozniak',
      unsubscribed: false,
      properties: { company_name: 'Acme', seats: 12, empty: null },
    }),
  );
  assert.equal(object, 'contact');
  const steve = {
    object: 'contact',
    id,
    email: 'Steve+List@apple.example',
    first_name: 'Steve',
    last_name: 'Wozniak',
    unsubscribed: false,
    properties: { company_name: { type: 'string', value: 'Acme' }, seats: { type: 'number', value: 12 } },
  };
  for (const key of [id, { id }, { email: 'steve+list@apple.example' }] as const) {
    const { created_at, ...found } = await dataOf(resend.contacts.get(key));
    assert.equal(new Date(created_at).toISOString(), created_at);
    assert.deepEqual(found, steve);
  }
  const change = { unsubscribed: true, firstName: null, properties: { seats: null, plan: 'pro' } };
  assert.deepEqual(await dataOf(resend.contacts.update({ email: steve.email, ...change })), { object, id });
  const changed = await dataOf(resend.contacts.get(id));
  assert.deepEqual([changed.first_name, changed.last_name, changed.unsubscribed], [null, 'Wozniak', true]);
  assert.deepEqual(Object.keys(changed.properties).toSorted(), ['company_name', 'plan']);

  // Adding an address again updates its contact, and brings nobody back.
  const again = await dataOf(
    resend.contacts.create({ email: steve.email, firstName: 'Stephen', unsubscribed: false }),
  );
  assert.equal(again.id, id);
  const kept = await dataOf(resend.contacts.get(id));
  assert.deepEqual([kept.first_name, kept.unsubscribed], ['Stephen', true]);

  // Null changes nothing but names and properties, as clients send it that have a value for each field.
  const nothing = { unsubscribed: null, properties: null, topics: null, segments: null } as never;
  for (const call of [
    resend.contacts.update({ id, ...(nothing as object) }),
    resend.contacts.create({ email: steve.email, ...(nothing as object) }),
  ])
    assert.equal((await dataOf(call)).id, id);
  assert.deepEqual(await dataOf(resend.contacts.get(id)), kept);

  assert.match(
    await refusalOf(resend.contacts.create({ email: 'nobody' })),
    /^422 validation_error: `email` /,
  );
  assert.match(
    await refusalOf(resend.contacts.update({ id, properties: { 'a b': 1 } })),
    /^422 validation_error: /,
  );
  assert.deepEqual(await dataOf(resend.contacts.remove({ email: steve.email })), {
    object,
    id,
    contact: id,
    deleted: true,
  });
  assert.match(await refusalOf(resend.contacts.get(id)), /^404 not_found/);
});

test('contacts are listed in pages', async () => {
  const { data: all } = await dataOf(resend.contacts.list({ limit: 100 }));
  const page = await dataOf(resend.contacts.list({ limit: 2 }));
  assert.deepEqual([page.object, page.has_more, page.data.length], ['list', true, 2]);
  const last = page.data.at(-1)?.id ?? '';
  const next = await dataOf(resend.contacts.list({ limit: 100, after: last }));
  assert.deepEqual([...emailsOf(page), ...emailsOf(next)], emailsOf({ data: all }));
  const unclear = refusalOf(resend.get('/contacts?segment_id=seg_1&segment_id=seg_2'));
  assert.match(await unclear, /^422 validation_error: `segment_id` may be given only once$/);
  const before = await dataOf(resend.contacts.list({ before: last }));
  assert.deepEqual(emailsOf(before), emailsOf(page).slice(0, 1));
  assert.deepEqual(Object.keys(page.data[0] ?? {}).toSorted(), [
    'created_at',
    'email',
    'first_name',
    'id',
    'last_name',
    'unsubscribed',
  ]);
});

test('segments are groups to which contacts are added by hand', async () => {
  await clock.advance(1);
  const gold = await dataOf(resend.segments.create({ name: 'Gold' }));
  assert.deepEqual([gold.object, gold.name], ['segment', 'Gold']);
  await clock.advance(1);
  const silver = await dataOf(resend.segments.create({ name: 'Silver' }));
  const ann = await dataOf(
    resend.contacts.create({
      email: 'ann@gold.example',
      segments: [{ id: gold.id }, { id: silver.id }],
      properties: { a: 1 },
    }),
  );
  await clock.advance(1);
  await dataOf(resend.contacts.create({ email: 'bob@gold.example' }));
  assert.deepEqual(
    await dataOf(resend.contacts.segments.add({ email: 'bob@gold.example', segmentId: gold.id })),
    {
      object: 'contact_segment',
      id: gold.id,
      contact_id: (await dataOf(resend.contacts.get('bob@gold.example'))).id,
      segment_id: gold.id,
    },
  );
  const inGold = async () => emailsOf(await dataOf(resend.contacts.list({ segmentId: gold.id })));
  assert.deepEqual(await inGold(), ['bob@gold.example', 'ann@gold.example']);
  const ofAnn = await dataOf(resend.contacts.segments.list({ contactId: ann.id }));
  assert.deepEqual(ofAnn.data.map(({ name }) => name).toSorted(), ['Gold', 'Silver']);
  // The properties behind it are nobody's business.
  assert.deepEqual((await dataOf(resend.contacts.get(ann.id))).properties, {
    a: { type: 'number', value: 1 },
  });

  const removed = await dataOf(resend.contacts.segments.remove({ contactId: ann.id, segmentId: gold.id }));
  assert.equal(removed.deleted, true);
  assert.deepEqual(await inGold(), ['bob@gold.example']);
  assert.equal((await native(`/v1/segments/${gold.id}`)).contactCount, 1);

  assert.deepEqual(await dataOf(resend.segments.update(gold.id, { name: 'Golden' })), {
    object: 'segment',
    id: gold.id,
    name: 'Golden',
  });
  const { created_at, ...shown } = await dataOf(resend.segments.get(gold.id));
  assert.deepEqual(shown, { object: 'segment', id: gold.id, name: 'Golden' });
  assert.ok(created_at);
  assert.deepEqual(
    (await dataOf(resend.segments.list({ limit: 2 }))).data.map(({ name }) => name),
    ['Silver', 'Golden'],
  );
  assert.deepEqual(await dataOf(resend.segments.remove(silver.id)), {
    object: 'segment',
    id: silver.id,
    deleted: true,
  });
  assert.deepEqual((await dataOf(resend.contacts.segments.list({ contactId: ann.id }))).data, []);
  const unknown = resend.contacts.create({ email: 'eve@gold.example', segments: [{ id: silver.id }] });
  assert.match(await refusalOf(unknown), /^422 validation_error: `segments\[0\]` is not the id/);
  const nowhere = resend.contacts.segments.add({ contactId: ann.id, segmentId: silver.id });
  assert.match(await refusalOf(nowhere), /^404 not_found: Segment not found/);
});

test('a contact is put into many segments by one request of a plan', async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, async (_, index) => {
      const { id } = await dataOf(resend.segments.create({ name: `Many ${index}` }));
      return { id };
    }),
  );
  const setPlan = async (requestsPerSecond: number | null) => {
    await storePlan(testApp.app.db, 'unlimited', { requestsPerSecond });
    testApp.app.wakeups.notify('tenants');
  };
  await setPlan(2);
  await dataOf(resend.contacts.create({ email: 'many@gold.example', segments: ids }));
  await setPlan(null);
  const { data } = await dataOf(resend.contacts.segments.list({ email: 'many@gold.example' }));
  assert.equal(data.length, 5);
});

test('segments that were deleted take no room among the properties of a contact', async () => {
  const created = await dataOf(resend.segments.create({ name: 'Kept' }));
  const contact = { email: 'full@gold.example', properties: { plan: 'pro' } };
  const { id } = await dataOf(resend.contacts.create({ ...contact, segments: [{ id: created.id }] }));
  const { audienceId, filter } = await native(`/v1/segments/${created.id}`);
  const [{ field }] = filter.rules;
  // Properties as those that segments leave when they are deleted, but for the last characters: no id has a u.
  const name = (index: number) =>
    `${field.slice('properties.'.length, -3)}u${String(index).padStart(2, '0')}`;
  const fill = async (free: number) => {
    const properties = Object.fromEntries(Array.from({ length: free }, (_, index) => [name(index), true]));
    const at = `/v1/audiences/${audienceId}/contacts/${id}`;
    const { body } = await testApp.request('PATCH', at, { body: { properties } });
    assert.equal(Object.keys(body.properties).length, 100);
  };
  const [one, two] = [
    await dataOf(resend.segments.create({ name: 'One' })),
    await dataOf(resend.segments.create({ name: 'Two' })),
  ];
  await fill(98);
  await dataOf(resend.contacts.update({ id, properties: { seats: 1 } }));
  await fill(97);
  await dataOf(resend.contacts.create({ ...contact, segments: [{ id: one.id }] }));
  await fill(96);
  await dataOf(resend.contacts.segments.add({ contactId: id, segmentId: two.id }));
  const { properties } = await dataOf(resend.contacts.get(id));
  assert.deepEqual(Object.keys(properties).toSorted(), ['plan', 'seats']);
  const segments = await dataOf(resend.contacts.segments.list({ contactId: id }));
  assert.deepEqual(segments.data.map(({ name }) => name).toSorted(), ['Kept', 'One', 'Two']);
});

test('a page of a segment is full although its contacts are far apart', async () => {
  const { id: segmentId } = await dataOf(resend.segments.create({ name: 'Rare' }));
  const [{ id: audienceId }] = await audiencesNamed('Resend contacts');
  for (const email of ['x@rare.example', 'y@rare.example', 'z@rare.example']) {
    await clock.advance(1);
    await dataOf(resend.contacts.create({ email, segments: [{ id: segmentId }] }));
  }
  for (let index = 0; index < 60; index++)
    await testApp.request('POST', `/v1/audiences/${audienceId}/contacts`, {
      body: {
        email: `n${index}@many.example`,
      },
    });
  const first = await dataOf(resend.contacts.list({ segmentId, limit: 2 }));
  assert.deepEqual([emailsOf(first), first.has_more], [['z@rare.example', 'y@rare.example'], true]);
  const after = first.data.at(-1)?.id ?? '';
  const second = await dataOf(resend.contacts.list({ segmentId, limit: 2, after }));
  assert.deepEqual([emailsOf(second), second.has_more], [['x@rare.example'], false]);
  const before = await dataOf(resend.contacts.list({ segmentId, before: second.data[0]?.id ?? '' }));
  assert.deepEqual(emailsOf(before), ['z@rare.example', 'y@rare.example']);
});

test('audiences are another name of segments, as in older programs', async () => {
  const { id: audienceId } = await dataOf(resend.audiences.create({ name: 'Registered' }));
  const { id } = await dataOf(
    resend.contacts.create({ audienceId, email: 'old@reg.example', firstName: 'Old' }),
  );
  assert.deepEqual(emailsOf(await dataOf(resend.contacts.list({ audienceId }))), ['old@reg.example']);
  assert.equal((await dataOf(resend.contacts.get({ audienceId, email: 'old@reg.example' }))).id, id);
  await dataOf(resend.contacts.update({ audienceId, id, lastName: 'Er' }));
  assert.equal((await dataOf(resend.contacts.get(id))).last_name, 'Er');
  const stranger = resend.contacts.get({ audienceId, email: 'ann@gold.example' });
  assert.match(await refusalOf(stranger), /^404 not_found: Contact/);
  // Clients of other languages use the paths of audiences.
  const byPath = await resend.get<{ object: string; name: string }>(`/audiences/${audienceId}`);
  assert.deepEqual([byPath.data?.object, byPath.data?.name], ['audience', 'Registered']);
  // A contact in another audience was another contact.
  const { id: other } = await dataOf(resend.audiences.create({ name: 'Other' }));
  await dataOf(resend.contacts.create({ audienceId: other, email: 'old@reg.example' }));
  assert.equal((await dataOf(resend.contacts.remove({ audienceId: other, id }))).deleted, true);
  assert.match(await refusalOf(resend.contacts.get({ audienceId: other, id })), /^404/);
  assert.equal((await dataOf(resend.contacts.get({ audienceId, id }))).first_name, 'Old');
  assert.equal((await dataOf(resend.contacts.remove({ audienceId, id }))).deleted, true);
  assert.match(await refusalOf(resend.contacts.get(id)), /^404/);
});

test('an audience and a segment of ours are taken where Resend has a segment', async () => {
  const { body: ours } = await testApp.request('POST', '/v1/audiences', { body: { name: 'Ours' } });
  const { id } = await dataOf(resend.contacts.create({ audienceId: ours.id, email: 'own@ours.example' }));
  assert.equal((await native(`/v1/audiences/${ours.id}/contacts/${id}`)).email, 'own@ours.example');
  assert.deepEqual(emailsOf(await dataOf(resend.contacts.list({ segmentId: ours.id }))), [
    'own@ours.example',
  ]);
  assert.equal((await dataOf(resend.segments.get(ours.id))).name, 'Ours');
  const filter = { op: 'and', rules: [{ field: 'email', cmp: 'ends_with', value: 'ours.example' }] };
  const { body: filtered } = await testApp.request('POST', '/v1/segments', {
    body: {
      name: 'F',
      audienceId: ours.id,
      filter,
    },
  });
  assert.deepEqual(emailsOf(await dataOf(resend.contacts.list({ segmentId: filtered.id }))), [
    'own@ours.example',
  ]);
  const add = resend.contacts.segments.add({ contactId: id, segmentId: filtered.id });
  assert.match(
    await refusalOf(add),
    /^409 validation_error: The contacts of the segment F follow from its filter/,
  );
  const { id: ownSegment } = await dataOf(resend.segments.create({ name: 'Elsewhere' }));
  const moved = resend.contacts.segments.add({ contactId: id, segmentId: ownSegment });
  assert.match(await refusalOf(moved), /^404 not_found: Contact/);
});

test('topics are made, and contacts choose among them', async () => {
  const news = await dataOf(
    resend.topics.create({ name: 'News', description: 'Once a month', defaultSubscription: 'opt_in' }),
  );
  await clock.advance(1);
  const offers = await dataOf(resend.topics.create({ name: 'Offers', defaultSubscription: 'opt_out' }));
  const { created_at, ...shown } = await dataOf(resend.topics.get(news.id));
  assert.ok(created_at);
  assert.deepEqual(shown, {
    object: 'topic',
    id: news.id,
    name: 'News',
    description: 'Once a month',
    default_subscription: 'opt_in',
    visibility: 'public',
  });
  assert.deepEqual(
    (await dataOf(resend.topics.list())).data.map(({ name }) => name),
    ['Offers', 'News'],
  );
  assert.equal((await dataOf(resend.topics.update({ id: news.id, name: 'Monthly news' }))).id, news.id);

  const choice = { id: offers.id, subscription: 'opt_in' } as const;
  const { id } = await dataOf(resend.contacts.create({ email: 'chooser@topics.example', topics: [choice] }));
  const subscriptions = async () =>
    (await dataOf(resend.contacts.topics.list({ email: 'chooser@topics.example' }))).data.map(
      ({ name, subscription }) => `${name} ${subscription}`,
    );
  assert.deepEqual(await subscriptions(), ['Offers opt_in', 'Monthly news opt_in']);
  const change = [{ id: news.id, subscription: 'opt_out' as const }];
  assert.equal((await dataOf(resend.contacts.topics.update({ id, topics: change }))).id, id);
  assert.deepEqual(await subscriptions(), ['Offers opt_in', 'Monthly news opt_out']);
  const wrong = resend.contacts.topics.update({ id, topics: [{ id: 'top_1', subscription: 'opt_in' }] });
  assert.match(await refusalOf(wrong), /^422 validation_error: `topics\[0\].id` /);
  const noDefault = resend.topics.create({ name: 'X' } as never);
  assert.match(await refusalOf(noDefault), /^422 validation_error: `default_subscription` must be/);
  assert.deepEqual(await dataOf(resend.topics.remove(offers.id)), {
    object: 'topic',
    id: offers.id,
    deleted: true,
  });
  assert.deepEqual(await subscriptions(), ['Monthly news opt_out']);
});

test('what has no counterpart says why', async () => {
  const property = resend.contactProperties.create({ key: 'plan', type: 'string' });
  assert.match(await refusalOf(property), /^404 not_found: Properties need not be declared here/);
  const file = new Blob(['email\na@b.example\n']);
  assert.match(await refusalOf(resend.contacts.imports.create({ file })), /: Import contacts with POST/);
  assert.match(await refusalOf(resend.contacts.imports.get('x')), /: Import contacts with POST/);
});

test('a renamed or deleted audience of all contacts is replaced by a new one', async () => {
  const [{ id }] = await audiencesNamed('Resend contacts');
  await testApp.request('PATCH', `/v1/audiences/${id}`, { body: { name: 'Renamed' } });
  assert.deepEqual((await dataOf(resend.contacts.list())).data, []);
  await dataOf(resend.contacts.create({ email: 'new@again.example' }));
  assert.deepEqual(emailsOf(await dataOf(resend.contacts.list())), ['new@again.example']);
  await testApp.request('DELETE', `/v1/audiences/${(await audiencesNamed('Resend contacts'))[0].id}`);
  assert.deepEqual((await dataOf(resend.contacts.list())).data, []);
});
