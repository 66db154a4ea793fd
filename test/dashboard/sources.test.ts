/** The operator sees the sources of outgoing mail with what receivers find of them, and warms them up. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DAY_MS } from '../../src/system/clock.ts';
import { logIn } from '../support/browser.ts';
import { OUTBOUND, suspendProxy } from '../support/dashboard/delivery.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { setFirstAttempts } from '../support/warm-ups.ts';
import { zoneDns } from '../support/zone-dns.ts';

const clock = createFakeClock(Date.UTC(2026, 2, 1, 12));
const dns = zoneDns(`1.32.33.45.in-addr.arpa PTR one.example
one.example A 45.33.32.1
bounce.mx.postrider.example TXT "v=spf1 ip4:45.33.32.1 -all"
2.32.33.45.in-addr.arpa PTR other.example`);
const testApp = await openTestApp({
  system: { clock, dns },
  outbound: OUTBOUND,
});
const { app } = testApp;
await suspendProxy(app);
after(() => testApp.close());
const operator = await logIn(testApp, { isOperator: true, tenantId: null });

test('each source is shown with its state, its name and its pools, and a pool with the mail that it is for', async () => {
  const { html } = await operator.open('/operator/sources');
  assert.match(html, /<code>45\.33\.32\.1<\/code> <span class="status good">in use/);
  assert.match(html, /<code>45\.33\.32\.3<\/code> <span class="status bad">suspended<\/span> since <time/);
  assert.doesNotMatch(html, /<b>cannot/);
  assert.match(html, /Probed again: <time datetime="2026-03-01T12:01:00\.000Z"/);
  assert.match(
    html,
    /2606:2800::1<\/code> <span class="status neutral">used once its reverse DNS and SPF are proven/,
  );
  assert.match(html, /SOCKS5, 10\.0\.0\.9 port 1080/);
  assert.match(html, /<code>partner<\/code>.*partner\.example/s);
  assert.doesNotMatch(html, /good">proven/, 'DNS is asked once the page is there');
});

test('what receivers find is looked up for each address, with what to do', async () => {
  const { html } = await operator.open('/operator/sources?whole=1');
  assert.match(
    html,
    /one 45\.33\.32\.1.*status good">proven.*its reverse DNS leads to one\.example and back/s,
  );
  assert.match(html, /names other\.example instead of two\.example.*set the reverse DNS of 45\.33\.32\.2/s);
  assert.match(html, /vm 45\.33\.32\.3.*see to the proxy at 10\.0\.0\.9 port 1080/s);
  await operator.open('/account');
  await operator.submit('profile', { language: 'de' });
  const german = await operator.open('/operator/sources?whole=1');
  assert.match(german.html, /das Reverse-DNS führt zu one\.example und zurück/);
  assert.doesNotMatch(german.html, /lang="en"/, 'all findings are in German');
  await operator.open('/account');
  await operator.submit('profile', { language: 'en' });
});

test('a warm-up is started, shows what was sent of the limit of each provider, and is ended', async () => {
  await operator.open('/operator/sources');
  assert.match(operator.page.html, /No source is warmed up\./);
  await operator.submit('start', { source: 'two', curve: 'standard' });
  const day = Math.floor(clock.now() / DAY_MS);
  setFirstAttempts(testApp, {
    source: 'two',
    provider: 'google',
    day,
    firstAttempts: 1_049,
  });
  const { html } = await operator.open('/operator/sources');
  assert.match(html, /<td>day 1 of 19<\/td>/);
  assert.match(html, /<h3>Warm-up of two<\/h3>/);
  assert.match(html, /google<\/bdi><\/td><td class="number">1,049<\/td><td class="number">50<\/td>/);
  assert.match(
    html,
    /each other provider; all sites of none together<\/td><td class="number">0<\/td><td class="number">50<\/td>/,
  );
  await operator.submit('stop');
  assert.match(operator.page.html, /No source is warmed up\./);
  const refused = await operator.submit('start', { source: 'two', curve: 'steep' });
  assert.match(refused.html, /must be one of standard, careful/);
  const lines = await app.db.read
    .selectFrom('auditEntries')
    .select(['action', 'details'])
    .where('action', 'like', 'operator/sources %')
    .orderBy('id')
    .execute();
  assert.deepEqual(lines.map(({ action }) => action.split(' ')[1]).toSorted(), ['start', 'start', 'stop']);
  assert.ok(lines.some(({ details }) => /two.*standard/.test(details)));
});

test('without sources the page says from where mail leaves', async () => {
  const plain = await openTestApp();
  const { html } = await (await logIn(plain, { isOperator: true, tenantId: null })).open('/operator/sources');
  await plain.close();
  assert.match(html, /mail leaves from the address that the system chooses\..*outbound\.sources/);
});
