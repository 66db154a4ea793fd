/** To whom requests for pages count. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { logIn } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

test('a person who asks for too much is refused, and others and later requests are not', async () => {
  const [busy, calm] = [await logIn(testApp), await logIn(testApp)];
  let [status, count] = [0, 0];
  for (; status !== 429 && count < 1_100; count++)
    ({ status } = await busy.send('/assets/none', { method: 'GET' }));
  assert.equal(status, 429);
  assert.ok(count > 900, String(count));
  assert.equal((await calm.open('/account')).status, 200);
  await clock.advance(1_000);
  assert.equal((await busy.open('/account')).status, 200);
});

test('a file is refused before it is read when its sender may not send one', async () => {
  const viewer = await logIn(testApp, { role: 'viewer' });
  const { status } = await viewer.send('/t/default/live/suppressions/files', {
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  });
  assert.equal(status, 403);
});
