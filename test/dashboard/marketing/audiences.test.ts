/** Audiences, contacts, topics and segments in the dashboard, by the forms of their pages. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formsOf, logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const browser = await logIn(testApp);
const AT = '/t/default/test';

const api = async (path: string) => (await testApp.request('GET', `/v1${path}`)).body;
const idIn = (url: string, prefix: string) => new RegExp(`${prefix}_\\w+`).exec(url)?.[0] ?? '';

async function newAudience(name: string): Promise<string> {
  await browser.open(`${AT}/audiences`);
  await browser.submit('create', { name });
  assert.match(browser.page.html, /Created\./);
  return idIn(browser.page.url, 'aud');
}

async function newContact(audienceId: string, fields: Record<string, string>): Promise<string> {
  await browser.open(`${AT}/audiences/${audienceId}/contacts/new`);
  await browser.submit('create', fields);
  assert.equal(browser.page.status, 200, browser.page.html);
  return idIn(browser.page.url, 'ct');
}

test('an audience is created, renamed, sends confirmation mail once that is set up, and is deleted', async () => {
  const id = await newAudience('Readers <b>');
  assert.match(browser.page.html, /Readers &lt;b>/);
  await browser.open(`${AT}/audiences/${id}/settings`);
  await browser.submit('rename', { name: 'Readers' });
  assert.equal((await api(`/audiences/${id}`)).name, 'Readers');
  await browser.submit('optIn', { isOn: 'on', 'optIn.from': 'nobody' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /value="nobody"[^>]*>|aria-invalid="true"[^>]*value="nobody"/);
  await browser.submit('optIn', { 'optIn.from': 'news@sandbox.localhost', 'optIn.language': 'de' });
  assert.equal(browser.page.status, 422, 'the name of the test installation is another one');
  await browser.submit('optIn', { 'optIn.from': 'news@sandbox.mx.postrider.example' });
  assert.equal(browser.page.status, 200, browser.page.html);
  assert.equal((await api(`/audiences/${id}`)).optIn.language, 'de');
  await browser.submit('delete');
  assert.equal(browser.page.url, `${AT}/audiences?said=deleted`);
  assert.equal((await testApp.request('GET', `/v1/audiences/${id}`)).status, 404);
});

test('a contact is added with properties and topics, is found by its address, changed, unsubscribed and deleted', async () => {
  const audienceId = await newAudience('People');
  await browser.open(`${AT}/topics`);
  await browser.submit('create', { name: 'News', description: 'What is new' });
  const topicId = (await api('/topics')).data[0].id;
  const contactId = await newContact(audienceId, {
    email: 'ada@example.com',
    firstName: 'Ada',
    properties: 'plan: pro\nseats: 12\ncode: "12"\ntrial: false',
    [`topic.${topicId}`]: 'opt_out',
  });
  const path = `/audiences/${audienceId}/contacts/${contactId}`;
  const { properties, topics } = await api(path);
  assert.deepEqual(properties, { plan: 'pro', seats: 12, code: '12', trial: false });
  assert.deepEqual(topics, [{ id: topicId, subscription: 'opt_out' }]);

  const [shown] = formsOf(browser.page.html).filter(({ values }) => values.get('_action') === 'save');
  assert.equal(shown?.values.get('properties'), 'plan: pro\nseats: 12\ncode: "12"\ntrial: false');
  await browser.submit('save', { properties: 'plan: free\ncode: "12"', firstName: '' });
  const changed = await api(path);
  assert.deepEqual([changed.properties, changed.firstName], [{ plan: 'free', code: '12' }, null]);
  await browser.submit('save', { properties: 'no colon', lastName: 'Lovelace' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /Line 1 of the properties/);
  assert.match(browser.page.html, /value="Lovelace"/, 'the form keeps what was entered');

  await browser.open(`${AT}/audiences/${audienceId}?email=ADA%40example.com&status=subscribed`);
  assert.match(browser.page.html, new RegExp(contactId));
  await browser.open(`${AT}/audiences/${audienceId}?until=2001-01-01`);
  assert.match(browser.page.html, /Nothing matches/);

  await browser.open(`${AT}${path}`);
  await browser.submit('unsubscribe');
  assert.equal((await api(path)).status, 'unsubscribed');
  await browser.submit('subscribe');
  assert.equal((await api(path)).status, 'subscribed');
  await browser.submit('delete');
  assert.equal((await testApp.request('GET', `/v1${path}`)).status, 404);
});

test('a topic is changed and deleted, and one with a name that is too long is refused beside what was entered', async () => {
  await browser.open(`${AT}/topics`);
  await browser.submit('create', { name: 'Offers' });
  const { id } = (await api('/topics')).data[0];
  await browser.open(`${AT}/topics/${id}`);
  await browser.submit('save', { name: 'x'.repeat(51), description: 'Kept' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /value="Kept"/);
  await browser.submit('save', { name: 'Special offers', defaultOptIn: [] });
  assert.deepEqual(
    [(await api(`/topics/${id}`)).name, (await api(`/topics/${id}`)).defaultOptIn],
    ['Special offers', false],
  );
  await browser.submit('delete');
  assert.equal((await testApp.request('GET', `/v1/topics/${id}`)).status, 404);
});

test('what is wrong with a rule is said by its number and the fields of the form', async () => {
  const audienceId = await newAudience('Careless');
  await browser.open(`${AT}/audiences/${audienceId}/segments/new`);
  await browser.submit('save', { _action: ['save', 'add'], name: 'Wrong' });
  await browser.submit('save', { 'field.1': 'property', 'value.1': 'pro' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /role="alert"[^>]*>Rule 2: “Name of the property” must be 1 to 64 letters/);
  const wrongTime = { 'field.1': 'createdAt', 'cmp.1': 'before', 'value.1': 'soon' };
  await browser.submit('save', { ...wrongTime, _action: ['save', 'count'] });
  assert.match(browser.page.html, /id="count"[^>]*>Rule 2: “Value” must/);
  await browser.submit('save', wrongTime);
  assert.match(browser.page.html, /role="alert"[^>]*>Rule 2: “Value” must/);
  assert.doesNotMatch(browser.page.html, /filter\.rules/);
});

test('a segment is built of rules, counted before it is saved, changed, and shows its contacts', async () => {
  const audienceId = await newAudience('Customers');
  await newContact(audienceId, { email: 'pro@example.com', properties: 'plan: pro\nseats: 12' });
  await newContact(audienceId, { email: 'free@example.com', properties: 'plan: free' });

  await browser.open(`${AT}/audiences/${audienceId}/segments/new`);
  await browser.submit('save', {
    _action: ['save', 'add'],
    name: 'Large',
    'field.0': 'property',
    'key.0': 'plan',
    'value.0': 'pro',
  });
  assert.match(browser.page.html, /Rule 2/);
  await browser.submit('save', {
    'field.1': 'property',
    'key.1': 'seats',
    'cmp.1': 'gte',
    'value.1': '10',
    _action: ['save', 'count'],
  });
  assert.match(browser.page.html, /Contacts now: 1/);
  await browser.submit('save', { _action: ['save', 'remove 1'], 'value.0': 'pro, free', 'cmp.0': 'in' });
  assert.doesNotMatch(browser.page.html, /Rule 2/);
  await browser.submit('save', { _action: ['save', 'count'] });
  assert.match(browser.page.html, /Contacts now: 2/);
  assert.equal((await api('/segments')).data.length, 0, 'nothing is saved before somebody saves');
  await browser.submit('save', { name: 'Paying' });
  const id = idIn(browser.page.url, 'seg');
  const { filter } = await api(`/segments/${id}`);
  assert.deepEqual(filter, {
    op: 'and',
    rules: [{ field: 'properties.plan', cmp: 'in', value: ['pro', 'free'] }],
  });

  await browser.submit('save', { 'value.0': '', 'cmp.0': 'contains' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /must not be empty/);
  await browser.submit('save', { 'value.0': 'fre', 'cmp.0': 'contains', op: 'or' });
  assert.equal((await api(`/segments/${id}`)).filter.op, 'or');
  await browser.open(`${AT}/segments/${id}/contacts`);
  assert.match(browser.page.html, /free@example\.com/);
  assert.doesNotMatch(browser.page.html, /pro@example\.com/);
});

test('a segment with groups of rules is edited as JSON, and saved as it was when nothing changes', async () => {
  const audienceId = await newAudience('Grouped');
  const filter = {
    op: 'and',
    rules: [{ op: 'or', rules: [{ field: 'email', cmp: 'contains', value: 'a' }] }],
  };
  const made = await testApp.request('POST', '/v1/segments', {
    body: { name: 'Groups', audienceId, filter },
  });
  await browser.open(`${AT}/segments/${made.body.id}`);
  await browser.submit('save', { name: 'Renamed' });
  assert.equal(browser.page.status, 200, browser.page.html);
  const { name, filter: stored } = await api(`/segments/${made.body.id}`);
  assert.deepEqual([name, stored], ['Renamed', filter]);
  await browser.submit('save', { filter: '{' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /is not JSON/);
});

test('whoever may only read sees contacts and rules without a form', async () => {
  const audienceId = await newAudience('Looked at');
  const contactId = await newContact(audienceId, { email: 'seen@example.com', properties: 'plan: pro' });
  const viewer = await logIn(testApp, { role: 'viewer' });
  const { html } = await viewer.open(`${AT}/audiences/${audienceId}/contacts/${contactId}`);
  assert.match(html, /pro/);
  assert.deepEqual(formsOf(html).filter(({ values }) => values.has('_once')).length, 0);
  assert.equal((await viewer.open(`${AT}/audiences/${audienceId}/settings`)).status, 403);
});
