/**
 * PATCH of every resource: the fields that it names are changed and answered, the others stay, a change to the present
 * values is none, and what cannot be changed is refused by its name.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SANDBOX } from './emails/fixtures.ts';
import { createFakeClock } from './support/fake-clock.ts';
import { openTestApp, type TestMethod } from './support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock }, env: { POSTRIDER_REGIONS: 'sg,eu' } });
after(() => world.close());

async function ask(method: TestMethod, path: string, body?: object) {
  const answer = await world.request(method, `/v1${path}`, body ? { body } : {});
  assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const audienceId = (await ask('POST', '/audiences', { name: 'Readers' })).id;
const topicId = (await ask('POST', '/topics', { name: 'News' })).id;
const SENDER = `Ada <ada@${SANDBOX}>`;
const TAG = '{{{unsubscribe_url}}}';
const filterBy = (field: string) => ({ op: 'and', rules: [{ field, cmp: 'exists' }] });

type Subject = {
  path: string;
  /** The body of the request that creates the resource. */
  body: object;
  /** Another value for each field that can be changed by itself. */
  change: Record<string, unknown>;
  /** Fields whose change changes others too, which tests of the resource prove. */
  linked?: readonly string[];
};

const SUBJECTS: readonly Subject[] = [
  {
    path: '/topics',
    body: { name: 'News', description: 'Once a week', defaultOptIn: true },
    change: { name: 'Offers', description: null, defaultOptIn: false },
  },
  {
    path: '/templates',
    body: { name: 'Welcome', subject: 'Hello {{a}}', html: '<p>Hi {{b|you}}</p>', text: 'Hi' },
    change: { name: 'Goodbye', subject: 'Bye {{a}}', html: '<p>Bye {{b|you}}</p>', text: null },
  },
  {
    path: '/audiences',
    body: { name: 'Readers' },
    change: {
      name: '😀'.repeat(200),
      optIn: { from: SENDER, replyTo: 'a@b.example', subject: 'Hi', templateId: null, language: 'fr' },
    },
  },
  {
    path: '/segments',
    body: { name: 'Some', audienceId, filter: filterBy('firstName') },
    change: { name: 'Others', filter: filterBy('lastName') },
  },
  {
    path: `/audiences/${audienceId}/contacts`,
    body: { email: 'Ada@a.example', firstName: 'Ada', lastName: 'Lovelace' },
    change: { email: 'ada.b@a.example', firstName: null, lastName: 'Byron' },
    linked: ['unsubscribed', 'properties', 'topics'],
  },
  {
    path: '/broadcasts',
    body: { audienceId, from: `a@${SANDBOX}`, subject: 's', html: TAG, text: TAG, replyTo: 'a@b.example' },
    change: {
      from: `New <b@${SANDBOX}>`,
      subject: 'New',
      html: `<p>${TAG}`,
      text: null,
      replyTo: null,
      topicId,
      pace: { perHour: 500 },
    },
    linked: ['audienceId', 'segmentId', 'templateId', 'scheduleAt'],
  },
  {
    path: '/inbound/routes',
    body: { address: `a@${SANDBOX}`, destination: 'https://a.example/', enabled: true },
    change: { address: `b@${SANDBOX}`, destination: 'https://b.example:8443/x?y=z' },
    linked: ['enabled'],
  },
  {
    path: '/mailboxes',
    body: { address: `person@${SANDBOX}`, displayName: 'Ann Lee' },
    change: {
      displayName: null,
      passwordLogin: false,
      aliases: [`role@${SANDBOX}`],
      vacation: { text: 'Away' },
      forwardTo: ['bob@other.example'],
      keepCopy: false,
      rules: [{ conditions: [], fileInto: 'All' }],
      quotaBytes: 5_000_000_000,
      status: 'suspended',
      disabledCapabilities: ['BINARY', 'IDLE'],
    },
    linked: ['members', 'password', 'scramLogin'],
  },
  {
    path: '/domains',
    body: { name: 'settings.example', productType: 'mailbox' },
    linked: ['trackingSubdomain'],
    change: { openTracking: true, clickTracking: true, productType: 'both', region: 'eu' },
  },
  {
    path: '/webhooks',
    body: { url: 'https://a.example/', events: ['email.sent'], description: 'Shop' },
    change: { url: 'https://b.example/', events: ['email.sent', 'email.opened'], description: null },
    linked: ['status'],
  },
];

for (const { path, body, change, linked = [] } of SUBJECTS) {
  const name = path.replace(/aud_\w+/, '{audienceId}');
  const fields = Object.keys(change);

  async function create() {
    const { secret: _, password: __, ...record } = await ask('POST', path, body);
    await clock.advance(1_000);
    return { record, item: `${path}/${record.id}` };
  }

  test(`PATCH /v1${name}/{id} changes all fields at once or each alone, and leaves the others`, async () => {
    const { record, item } = await create();
    const present = Object.fromEntries(fields.map((field) => [field, record[field]]));
    for (const nothing of [{}, { unknown: 1 }, present])
      assert.deepEqual(await ask('PATCH', item, nothing), record, 'nothing is changed');
    let expected = record;
    for (const step of [change, ...fields.map((field) => ({ [field]: record[field] }))]) {
      await clock.advance(1_000);
      expected = { ...expected, ...step, updatedAt: new Date(clock.now()).toISOString() };
      assert.deepEqual(await ask('PATCH', item, step), expected);
      assert.partialDeepStrictEqual(await ask('GET', item), expected);
      await clock.advance(1_000);
      assert.deepEqual(await ask('PATCH', item, step), expected, 'the same again');
    }
    await ask('DELETE', item);
  });

  test(`PATCH /v1${name}/{id} for each field at the same time makes all changes`, async () => {
    const { record, item } = await create();
    await Promise.all(fields.map((field) => ask('PATCH', item, { [field]: change[field] })));
    const { updatedAt: _, ...expected } = { ...record, ...change };
    assert.partialDeepStrictEqual(await ask('GET', item), expected);
    await ask('DELETE', item);
  });

  test(`PATCH /v1${name}/{id} refuses fields that cannot be changed, and does nothing of the rest`, async () => {
    const { item } = await create();
    const before = await ask('GET', item);
    const fixed = Object.keys(before).filter((field) => !fields.includes(field) && !linked.includes(field));
    for (const field of fixed) {
      const answer = await world.request('PATCH', `/v1${item}`, { body: { ...change, [field]: null } });
      assert.deepEqual([answer.status, answer.body.error?.param], [400, field]);
    }
    assert.deepEqual(await ask('GET', item), before);
    await ask('DELETE', item);
  });
}
