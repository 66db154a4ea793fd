/** `/v1/branding`: set in parts, checked, and its own for each tenant. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { GIF, png, sizeOfPng } from './images.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const NONE = {
  ...{ name: null, color: null, textColor: null, darkColor: null, darkTextColor: null },
  ...{ logo: null, contrast: null, updatedAt: null },
};
const get = async (key = world.testKey) => (await world.request('GET', '/v1/branding', { key })).body;
const put = (body: unknown, key = world.testKey) => world.request('PUT', '/v1/branding', { body, key });
const remove = (key = world.testKey) => world.request('DELETE', '/v1/branding', { key });

test('the branding is set in parts, changed, and deleted, by either key', async () => {
  assert.deepEqual(await get(), NONE);
  const first = await put({ name: 'Corner Shop', color: '#1F5FBF' }, world.liveKey);
  const updatedAt = new Date(clock.now()).toISOString();
  assert.deepEqual(
    [first.status, first.body],
    [
      200,
      { ...NONE, name: 'Corner Shop', color: '#1f5fbf', contrast: { light: 6.09, dark: 6.09 }, updatedAt },
    ],
  );
  const logo = (await put({ logo: png(960, 320).toString('base64') })).body.logo;
  assert.match(logo.url, /^https:\/\/track\.mx\.postrider\.example\/brand\/[\w-]{43}\.png$/);
  assert.deepEqual([logo.width, logo.height], [480, 160]);
  assert.deepEqual(await get(), { ...first.body, logo });
  assert.deepEqual((await put({ logo: GIF.toString('base64'), name: null })).body.logo.width, 1);
  assert.deepEqual((await put({ logo: null, color: null })).body, { ...NONE, updatedAt });
  for (let times = 0; times < 2; times++) assert.equal((await remove()).status, 204);
  assert.deepEqual(await get(), NONE);
});

test('what is stored of a logo is a PNG within its limits, read by its hash', async () => {
  const { logo } = (await put({ logo: png(1_000, 1_000).toString('base64') })).body;
  const row = await world.app.db.read.selectFrom('brandings').select(['logo', 'logoHash']).executeTakeFirst();
  assert.deepEqual(sizeOfPng(Buffer.from(row?.logo ?? [])), [160, 160]);
  assert.ok(logo.url.endsWith(`/${row?.logoHash}.png`));
  await remove();
});

test('colours are checked together, also with those that were set before', async () => {
  const unreadable = await put({ name: 'Shop', color: '#ffcc00' });
  assert.deepEqual([unreadable.status, unreadable.body.error.param], [400, 'color']);
  assert.match(unreadable.body.error.message, /contrast between #ffcc00 and its text #ffffff is 1\.51/);
  assert.deepEqual(await get(), NONE, 'nothing of the request was stored');
  assert.equal((await put({ color: '#ffcc00', textColor: '#000000' })).status, 200);
  assert.deepEqual((await put({ textColor: null })).body.error.param, 'color');
  assert.deepEqual((await put({ darkColor: '#000000' })).body.error.param, 'darkColor');
  assert.equal((await put({ darkColor: '#000000', darkTextColor: '#ffffff' })).status, 200);
  assert.deepEqual((await put({ color: null })).body.error.param, 'textColor');
  await remove();
});

test('wrong fields are refused by name', async () => {
  for (const [body, param] of [
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ color: 'red' }, 'color'],
    [{ color: '#12345' }, 'color'],
    [{ color: '#1f5fbf', darkColor: '#1f5fbf;}' }, 'darkColor'],
    [{ logo: 'not base64' }, 'logo'],
    [{ logo: '' }, 'logo'],
    [{ logo: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>').toString('base64') }, 'logo'],
  ] as const) {
    const { status, body: answer } = await put(body);
    assert.deepEqual([status, answer.error?.param], [400, param], JSON.stringify(body));
  }
  assert.deepEqual(await get(), NONE);
});

test('each tenant has its own, and nobody changes that of another', async () => {
  const other = await world.addTenant('other');
  await put({ name: 'Mine' });
  await put({ name: 'Theirs' }, other.testKey);
  assert.equal((await get()).name, 'Mine');
  assert.equal((await remove(other.testKey)).status, 204);
  assert.equal((await get()).name, 'Mine');
  await remove();
});

test('keys that only read, and keys of one domain, see the branding and do not change it', async () => {
  const { body: domain } = await world.request('POST', '/v1/domains', {
    body: { name: 'shop.example', productType: 'api' },
  });
  for (const key of [
    await world.newKey({ permission: 'read_only' }),
    await world.newKey({ domainId: domain.id }),
  ]) {
    assert.deepEqual(await get(key), NONE);
    assert.equal((await put({ name: 'x' }, key)).status, 403);
    assert.equal((await remove(key)).status, 403);
  }
});

test('a preview shows a public page with its styles in itself, checks as a change does, and stores nothing', async () => {
  const preview = (body: object, key = world.testKey) =>
    world.request('POST', '/v1/branding/preview', { body, key });
  await put({ name: 'Shop', color: '#1f5fbf' });
  const stored = await get();
  const logo = png(40, 20).toString('base64');
  const { status, body } = await preview({
    page: 'confirmation',
    language: 'fr',
    textColor: '#eeeeee',
    logo,
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(body.html, /<html lang="fr">[\s\S]*--on-brand: #eeeeee[\s\S]*data:image\/png[\s\S]*Shop/);
  assert.doesNotMatch(body.html, /<link/);
  assert.ok(body.contrast.light < stored.contrast.light && body.contrast.light === body.contrast.dark);
  for (const [wrong, param] of [
    [{ page: 'unsubscribe', color: '#ffcc00' }, 'color'],
    [{ page: 'unsubscribe', logo: 'not base64' }, 'logo'],
    [{ page: 'other' }, 'page'],
  ] as const)
    assert.deepEqual([(await preview(wrong)).body.error?.param], [param]);
  assert.deepEqual(await get(), stored);
  const other = await world.addTenant('previewer');
  assert.doesNotMatch((await preview({ page: 'unsubscribe' }, other.testKey)).body.html, /Shop/);
  await remove();
});
