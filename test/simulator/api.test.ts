import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const PATH = '/v1/simulator/reply';
const NOW = '2030-01-01T00:00:00.000Z';
const testApp = await openTestApp({ system: { clock: createFakeClock(Date.parse(NOW)) } });
const stranger = await testApp.addTenant('stranger');
after(() => testApp.close());

const get = async (key?: string) => (await testApp.request('GET', PATH, { ...(key && { key }) })).body.reply;
const put = (body: object) => testApp.request('PUT', PATH, { body });

test('a reply is set, replaced as a whole, and removed, also twice', async () => {
  assert.equal(await get(), null);
  const full = { code: 452, enhancedCode: '4.2.2', text: 'Mailbox full', recipients: 'all' };
  assert.deepEqual((await put(full)).body, { reply: { ...full, updatedAt: NOW } });
  assert.deepEqual(await get(), { ...full, updatedAt: NOW });
  await put({ code: 550 });
  const least = { code: 550, enhancedCode: null, text: 'Simulated', recipients: 'custom', updatedAt: NOW };
  assert.deepEqual(await get(), least);
  for (const _ of [1, 2]) assert.equal((await testApp.request('DELETE', PATH)).status, 204);
  assert.equal(await get(), null);
});

test('each tenant has its own reply', async () => {
  await put({ code: 550 });
  assert.equal(await get(stranger.testKey), null);
  assert.equal((await testApp.request('DELETE', PATH, { key: stranger.testKey })).status, 204);
  assert.equal((await get()).code, 550);
});

test('a live key is refused, and so is a key that may only send or read', async () => {
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, body } = await testApp.request(method, PATH, { key: testApp.liveKey });
    assert.deepEqual([status, body.error.type], [403, 'restricted_api_key']);
  }
  const live = await testApp.request('PUT', PATH, { key: testApp.liveKey, body: { code: 250 } });
  assert.equal(live.status, 403);
  for (const permission of ['sending_access', 'read_only'] as const) {
    const key = await testApp.newKey({ permission });
    assert.equal((await testApp.request('PUT', PATH, { key, body: { code: 250 } })).status, 403);
  }
});

for (const [what, body, param] of [
  ['a code of class 3', { code: 354 }, 'code'],
  ['a code that is no reply', { code: 42 }, 'code'],
  ['a second digit above 5', { code: 469 }, 'code'],
  ['an enhanced code of another class', { code: 550, enhancedCode: '4.1.1' }, 'enhancedCode'],
  ['an enhanced code with a leading zero', { code: 550, enhancedCode: '5.01.1' }, 'enhancedCode'],
  ['an enhanced code with more after it', { code: 550, enhancedCode: '5.1.1\r\n' }, 'enhancedCode'],
  ['a line break', { code: 550, text: 'No\r\n250 OK' }, 'text'],
  ['a NUL', { code: 550, text: 'No\0' }, 'text'],
  ['text that is not ASCII', { code: 550, text: 'Néin' }, 'text'],
  ['no text at all', { code: 550, text: '' }, 'text'],
  ['a line that is too long', { code: 550, text: 'x'.repeat(481) }, 'text'],
  ['other recipients', { code: 550, recipients: 'some' }, 'recipients'],
] as const) {
  test(`${what} is refused, and nothing changes`, async () => {
    await put({ code: 250 });
    const refused = await put(body);
    assert.deepEqual([refused.status, refused.body.error.param], [400, param], JSON.stringify(refused.body));
    assert.equal((await get()).code, 250);
  });
}
