/** The public pages show the name, the colours and the logo of the sender, all from this host and without styles in the page. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLinks } from '../../src/links/links.ts';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { GIF, png } from '../branding/images.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const served = createPreferencesApp(world.app);
const pages = served.app;
await pages.ready();
after(async () => {
  await pages.close();
  await world.close();
});

const get = (url: string, headers: Record<string, string> = {}) =>
  pages.inject({ method: 'GET', url, headers });
const brand = async (body: object, key = world.testKey) => {
  const set = await world.request('PUT', '/v1/branding', { body, key });
  assert.equal(set.status, 200, JSON.stringify(set.body));
};
const links = createLinks(world.app);
const pathOf = (tenantId = world.tenantId) =>
  new URL(
    links.unsubscribeUrl({ tenantId, topicId: undefined, contactId: undefined, address: 'a@b.example' }),
  ).pathname;

test('a page without branding names no sender and loads one stylesheet', async () => {
  const { body } = await get(pathOf());
  assert.doesNotMatch(body, /<header|<img/);
  assert.deepEqual(body.match(/href="[^"?]+"/g), ['href="/preferences.css"']);
});

test('the page has the name, the logo and the colours of its sender, and of no other', async () => {
  await brand({ name: 'Tom & Jerry <b>', color: '#1f5fbf', darkColor: '#8ab4f8', darkTextColor: '#000000' });
  await brand({ logo: png(960, 320).toString('base64') });
  const { body, headers } = await get(pathOf());
  assert.match(body, /<strong dir="auto">Tom &amp; Jerry &lt;b>/);
  const image =
    /<img src="(\/brand\/[\w-]{43}\.png)" alt(?:="")? width="240" height="80"/.exec(body)?.[1] ?? '';
  assert.match(body, /<link rel="stylesheet" href="\/brand\/1f5fbf-ffffff-8ab4f8-000000\.css"/);
  assert.doesNotMatch(body, /<script|<style|style=/);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self'; /);
  assert.doesNotMatch(policy, /unsafe|script/);

  const style = await get('/brand/1f5fbf-ffffff-8ab4f8-000000.css');
  assert.deepEqual([style.statusCode, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
  assert.match(style.body, /--brand: #1f5fbf; --on-brand: #ffffff;/);
  assert.match(style.body, /dark\) \{ :root \{ --brand: #8ab4f8; --on-brand: #000000;/);
  const logo = await get(image);
  assert.deepEqual([logo.statusCode, logo.headers['content-type']], [200, 'image/png']);
  assert.match(String(logo.headers['cache-control']), /max-age=31536000, immutable/);
  assert.equal(logo.headers['x-content-type-options'], 'nosniff');

  const other = await world.addTenant('other');
  assert.doesNotMatch((await get(pathOf(other.tenantId))).body, /Tom|<img|\/brand\//);
});

test('another logo has another address, and the old one ends', async () => {
  const addressOf = async () => /\/brand\/[\w-]{43}\.png/.exec((await get(pathOf())).body)?.[0] ?? '';
  await brand({ logo: png(10, 10).toString('base64') });
  const old = await addressOf();
  await brand({ logo: GIF.toString('base64') });
  const current = await addressOf();
  assert.notEqual(current, old);
  assert.deepEqual([(await get(current)).statusCode, (await get(old)).statusCode], [200, 404]);
});

test('a name that is no logo and no colours is not found', async () => {
  for (const file of [
    'x.css',
    '1f5fbf-ffffff-8ab4f8-00000g.css',
    '1F5FBF-ffffff-8ab4f8-000000.css',
    'a.png',
    '%2e%2e',
    '',
  ])
    assert.equal((await get(`/brand/${file}`)).statusCode, 404, file);
});

test('on a host that also serves the API, what the pages load belongs to them', () => {
  for (const path of ['/preferences.css', '/brand/1f5fbf-ffffff-8ab4f8-000000.css', '/u/x'])
    assert.ok(served.serves('track.mx.postrider.example', path), path);
});
