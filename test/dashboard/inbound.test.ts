/** Received messages and inbound routes, as the people of a tenant see them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addDomain } from '../domains/fixtures.ts';
import { addReceived, WITH_FILE } from '../inbound/fixtures.ts';
import { logIn } from '../support/browser.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

let answer = 204;
const testApp: TestApp = await openTestApp({
  system: { fetch: async () => ({ status: answer, headers: {}, body: Buffer.from('no'), truncated: false }) },
});
after(() => testApp.close());

await addDomain(testApp, { name: 'shop.example', status: 'verified', productType: 'both' });
const admin = await logIn(testApp, { role: 'admin' });
const AT = '/t/default/live';

async function addRoute(address: string): Promise<string> {
  await admin.open(`${AT}/routes`);
  await admin.submit('create', { address, destination: 'https://receiver.example/in' });
  const [, id = ''] = /routes\/(rt_\w+)/.exec(admin.page.html) ?? [];
  return id;
}

const HOSTILE = [
  'From: "<script>alert(1)</script>" <eve@sender.example>',
  'Subject: =?utf-8?q?=E2=80=AE<img_src=3Dx_onerror=3Dalert(1)>?=',
  'MIME-Version: 1.0',
  'Content-Type: multipart/related; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<script>alert(2)</script><img src="cid:logo"><img src="cid:page"><img src="https://tracker.example/x.gif">',
  '--b',
  'Content-Type: image/png; name="logo.png"',
  'Content-ID: <logo>',
  'Content-Transfer-Encoding: base64',
  '',
  'iVBORw0KGgo=',
  '--b',
  'Content-Type: image/svg+xml; name="page.svg"',
  'Content-ID: <page>',
  '',
  '<svg onload="alert(3)"/>',
  '--b--',
  '',
].join('\r\n');

test('a route is made with a secret that is shown once, is tested, changed and deleted', async () => {
  const id = await addRoute('sales@shop.example');
  const [, secret = ''] = /data-copy="(whsec_[^"]+)"/.exec(admin.page.html) ?? [];
  assert.notEqual(secret, '');
  await admin.open(`${AT}/routes/${id}`);
  assert.doesNotMatch(admin.page.html, new RegExp(secret.replaceAll('+', '\\+')));
  await admin.submit('test');
  assert.match(admin.page.html, /the receiver has accepted it.*204/s);
  answer = 500;
  await admin.open(`${AT}/routes/${id}`);
  await admin.submit('test');
  assert.match(admin.page.html, /not accepted.*500/s);
  await admin.open(`${AT}/routes/${id}`);
  await admin.submit('change', { destination: 'http://receiver.example' });
  assert.match(admin.page.html, /value="http:\/\/receiver\.example".*role="alert"/s);
  await admin.submit('change', { destination: 'https://receiver.example/other', enabled: [] });
  assert.match(admin.page.html, /https:\/\/receiver\.example\/other.*disabled/s);
  await admin.submit('delete');
  assert.equal(admin.page.url, `${AT}/routes?said=deleted`);
  assert.match(admin.page.html, /No routes yet/);
});

test('a message is listed and shown with its text, its authentication, its files and its posts', async () => {
  const routeId = await addRoute('hello@shop.example');
  const row = {
    auth: null,
    spamScore: 6.5,
    spamReasons: '[{"name":"bad_links","points":6.5}]',
    flagged: 1 as const,
  };
  const id = await addReceived(testApp, { routeIds: [routeId], address: 'hello@shop.example', row });
  await admin.open(`${AT}/inbound?address=hello@shop.example`);
  assert.match(admin.page.html, /Hello.*ann@sender\.example.*hello@shop\.example.*probably spam/s);
  await admin.open(`${AT}/inbound?from=nobody@sender.example`);
  assert.match(admin.page.html, /Nothing matches these filters/);
  await admin.open(`${AT}/inbound/${id}`);
  assert.match(admin.page.html, /192\.0\.2\.1 mail\.sender\.example.*bad_links 6\.5.*list\.csv/s);
  assert.match(admin.page.html, /<pre[^>]*>Hi/);
  assert.match(admin.page.html, new RegExp(`/routes/${routeId}`));
  const file = await admin.send(`${AT}/inbound/${id}/files/1`, { method: 'GET' });
  assert.equal(file.html, 'a,b');
  assert.match(String(file.headers['content-disposition']), /^attachment; filename\*=UTF-8''list\.csv$/);
  const raw = await admin.send(`${AT}/inbound/${id}/raw`, { method: 'GET' });
  assert.equal(raw.html, `Return-Path: <ann@sender.example>\r\n${WITH_FILE}`);
  assert.match(String(raw.headers['content-disposition']), /^attachment; /);
});

test('failed posts are made again', async () => {
  const routeId = await addRoute('again@shop.example');
  const task = { state: 'failed' as const, responseStatus: 500, error: 'The receiver answered 500' };
  const id = await addReceived(testApp, { routeIds: [routeId], task });
  await admin.open(`${AT}/inbound/${id}`);
  assert.match(admin.page.html, /failed.*500.*The receiver answered 500/s);
  await admin.submit('replay');
  assert.match(admin.page.html, /The posts are made again.*waiting/s);
});

test('what strangers write runs nowhere: the HTML stands in a frame that loads nothing but images of the message', async () => {
  const id = await addReceived(testApp, { text: HOSTILE, row: { subject: '<img src=x onerror=alert(1)>' } });
  await admin.open(`${AT}/inbound/${id}`);
  assert.doesNotMatch(admin.page.html, /<script>alert|<img src=x/);
  assert.match(admin.page.html, /<iframe class="preview" sandbox/);
  const { html, headers } = await admin.send(`${AT}/inbound/${id}/html`, { method: 'GET' });
  assert.match(String(headers['content-security-policy']), /^sandbox; default-src 'none';/);
  assert.match(html, /src="data:image\/png;base64,iVBORw0KGgo="/);
  assert.match(html, /src="cid:page"/, 'an image that can have scripts is not shown');
  await admin.open(`${AT}/inbound`);
  assert.doesNotMatch(admin.page.html, /<img src=x/);
});

test('messages and routes of others are not found, and a viewer changes nothing', async () => {
  const routeId = await addRoute('seen@shop.example');
  const id = await addReceived(testApp, { routeIds: [routeId] });
  const viewer = await logIn(testApp, { role: 'viewer' });
  const { tenantId } = await testApp.addTenant('stranger');
  const stranger = await logIn(testApp, { tenantId });
  for (const path of [`/inbound/${id}`, `/routes/${routeId}`, '/routes', '/inbound']) {
    await viewer.open(AT + path);
    assert.equal(viewer.page.status, 200);
    assert.doesNotMatch(viewer.page.html, /name="_once"/, path);
  }
  const paths = ['', '/html', '/raw', '/files/1'].map((part) => `/inbound/${id}${part}`);
  for (const path of [...paths, `/routes/${routeId}`])
    assert.equal((await stranger.open(`/t/stranger/live${path}`)).status, 404, path);
  for (const number of ['0', '2', '..', '%2e%2e', '1%2F..%2F..%2Fraw'])
    assert.equal((await admin.open(`${AT}/inbound/${id}/files/${number}`)).status, 404, number);
});
