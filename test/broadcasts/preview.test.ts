/** A broadcast that has not started is shown as a contact would read it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../support/test-app.ts';
import { broadcastBody, clientOf, TAG } from './fixtures.ts';

const world = await openTestApp();
after(() => world.close());
const { ask, created } = clientOf(world);
const made = async (path: string, body: object) => (await ask('POST', path, body)).body;

const audience = await made('/audiences', { name: 'Readers' });
const contacts = `/audiences/${audience.id}/contacts`;
const draft = (more: object) => created({ ...broadcastBody(audience.id), ...more });
const preview = (id: string, query = '') => ask('GET', `/broadcasts/${id}/preview${query}`);

test('without contacts the fallbacks fill in the tags, and the link to unsubscribe leads nowhere', async () => {
  const html = `<p>Hello {{firstName|friend}}</p><a href="${TAG}">Leave</a>`;
  const { id } = await draft({ subject: 'For {{firstName|you}}', html });
  const { status, body } = await preview(id);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.contactId, body.email, body.subject], [null, null, 'For you']);
  assert.equal(body.html, '<p>Hello friend</p><a href="#unsubscribe">Leave</a>');
  assert.match(body.text, /Hello friend/);
});

test('a contact is named by its id or its address, and the newest one stands in for it', async () => {
  const ada = await made(contacts, { email: 'ada@example.com', firstName: '<Ada>' });
  const bob = await made(contacts, { email: 'bob@example.com', firstName: 'Bob' });
  const { id } = await draft({ html: `<p>{{firstName}}</p><a href="${TAG}">Leave</a>` });
  assert.match((await preview(id, `?contact=${ada.id}`)).body.html, /^<p>&lt;Ada&gt;<\/p>/);
  assert.equal((await preview(id, '?contact=ADA%40example.com')).body.contactId, ada.id);
  assert.equal((await preview(id)).body.contactId, bob.id);
  const wrong = await preview(id, '?contact=carl%40example.com');
  assert.deepEqual([wrong.status, wrong.body.error.param], [400, 'contact']);
});

test('a template is shown with the values of the contact, and changes with it', async () => {
  const template = { name: 'news', subject: 'News', html: `<b>{{email}}</b><a href="${TAG}">Leave</a>` };
  const { id: templateId } = await made('/templates', template);
  const { id } = await draft({ templateId, html: null });
  assert.match((await preview(id, '?contact=ada%40example.com')).body.html, /^<b>ada@example.com<\/b>/);
  await ask('PATCH', `/templates/${templateId}`, { html: `<i>New</i><a href="${TAG}">Leave</a>` });
  assert.match((await preview(id)).body.html, /^<i>New<\/i>/);
});

test('the broadcast of another tenant is not found, and one that has started has no preview', async () => {
  const { id } = await draft({});
  const stranger = await world.addTenant('stranger');
  const foreign = await world.request('GET', `/v1/broadcasts/${id}/preview`, { key: stranger.testKey });
  assert.equal(foreign.status, 404);
  await ask('POST', `/broadcasts/${id}/send`);
  assert.equal((await preview(id)).body.error.type, 'invalid_state');
});
