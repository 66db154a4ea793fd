/** The pages of API keys: a key is shown once, works, and ends when it is revoked. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addDomain } from '../../domains/fixtures.ts';
import { logIn } from '../../support/browser.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { textsIn } from '../shown.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

const KEYS = '/t/default/test/keys';

/** Returns the key and the command line that the page of a new key shows. */
function shownKey(html: string): { token: string; command: string } {
  const [token = '', command = ''] = textsIn(html, 'code');
  return { token, command };
}

test('a new key is shown once, with a command line whose request the API accepts', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${KEYS}/new`);
  const shown = await owner.submit('create', { name: 'the shop' });
  assert.equal(shown.status, 200, shown.html);
  const { token, command } = shownKey(shown.html);
  assert.match(token, /^svc_\w{3}_\w{30,}$/);
  const [, url = '', sent = ''] = /^curl (\S+) .*-d '(.*)'$/s.exec(command) ?? [];
  assert.ok(command.includes(`Authorization: Bearer ${token}`), command);
  assert.equal(url, 'https://mx.postrider.example/v1/emails');
  const accepted = await testApp.request('POST', '/v1/emails', { key: token, body: JSON.parse(sent) });
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
  await owner.open(KEYS);
  assert.ok(!owner.page.html.includes(token));
  assert.match(owner.page.html, /the shop/);
  assert.match(owner.page.html, /Only sending/);
});

test('a form that is sent twice makes one key', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${KEYS}/new`);
  const [, once = ''] = /name="_once" value="([^"]+)"/.exec(owner.page.html) ?? [];
  const body = `_action=create&_once=${once}&name=twice&permission=read_only`;
  const answers = await Promise.all([1, 2].map(() => owner.send(`${KEYS}/new`, { method: 'POST', body })));
  const [first, second] = answers.map(({ html }) => shownKey(html).token);
  assert.equal(first, second);
  const { body: page } = await testApp.request('GET', '/v1/api-keys?limit=100');
  assert.equal(page.data.filter(({ name }: { name: string }) => name === 'twice').length, 1);
});

test('a key has the limits of the form, and its expiry is in the zone of the person', async () => {
  const { id } = await addDomain(testApp, { name: 'shop.example', status: 'verified' });
  const owner = await logIn(testApp);
  await owner.open('/account');
  await owner.submit('profile', { timeZone: 'America/New_York' });
  await owner.open(`${KEYS}/new`);
  assert.match(owner.page.html, /Expires \(America\/New_York\)/);
  await owner.submit('create', {
    name: 'limited',
    domainId: 'shop.example',
    allowedIps: '192.0.2.7, 2001:db8::/32\n10.1.2.3/8',
    expiresAt: '2027-07-01T09:30',
  });
  assert.match(shownKey(owner.page.html).command, /"from":"hello@shop.example"/);
  const { body: page } = await testApp.request('GET', '/v1/api-keys?limit=100');
  const key = page.data.find(({ name }: { name: string }) => name === 'limited');
  assert.equal(key.domainId, id);
  assert.deepEqual(key.allowedIps, ['192.0.2.7', '2001:db8::/32', '10.0.0.0/8']);
  assert.equal(key.expiresAt, '2027-07-01T13:30:00.000Z');
  await owner.open(`${KEYS}/${key.id}`);
  for (const text of ['shop.example', '192.0.2.7', '9:30']) assert.ok(owner.page.html.includes(text), text);
});

test('a refused key says why beside the button, marks the field and keeps what was entered', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${KEYS}/new`);
  const refused = await owner.submit('create', { name: 'kept', allowedIps: 'anywhere' });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /must be an address or a CIDR block/);
  assert.match(refused.html, /name="name"[^>]*value="kept"|value="kept"[^>]*name="name"/);
  assert.match(refused.html, /<textarea[^>]*name="allowedIps"[^>]*aria-invalid="true"/);
  const unknown = await owner.submit('create', { allowedIps: '', expiresAt: 'soon' });
  assert.match(unknown.html, /“Expires \(UTC\)” must be an ISO 8601 time/);
});

test('a key is changed and revoked, and those of the other mode are not there', async () => {
  const token = await testApp.newKey({ name: 'old name', mode: 'test' });
  const { body: page } = await testApp.request('GET', '/v1/api-keys?limit=100');
  const { id } = page.data.find(({ name }: { name: string }) => name === 'old name');
  const owner = await logIn(testApp);
  assert.equal((await owner.open(`/t/default/live/keys/${id}`)).status, 404);
  await owner.open(`${KEYS}/${id}`);
  await owner.submit('change', { name: '<b>new name</b>', requiresApproval: 'broadcasts' });
  const { body: changed } = await testApp.request('GET', `/v1/api-keys/${id}`);
  assert.equal(changed.requiresApproval, 'broadcasts');
  assert.ok(owner.page.html.includes('&lt;b>new name&lt;/b>'), owner.page.html);
  await owner.submit('revoke');
  assert.equal(owner.page.url, `${KEYS}?said=keyRevoked`);
  assert.equal((await testApp.request('GET', '/v1/emails', { key: token })).status, 401);
});

test('viewers see no keys, and the navigation does not lead them there', async () => {
  const viewer = await logIn(testApp, { role: 'viewer' });
  await viewer.open('/t/default/test');
  assert.ok(!viewer.page.html.includes('/keys'));
  assert.equal((await viewer.open(KEYS)).status, 403);
});
