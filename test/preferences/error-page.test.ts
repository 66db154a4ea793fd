/** Links that lead nowhere end at a page that helps, in the language of the reader. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const pages = createPreferencesApp(world.app).app;
await pages.ready();
after(async () => {
  await pages.close();
  await world.close();
});

const BROKEN = {
  en: 'This link does not work',
  de: 'Dieser Link funktioniert nicht',
  fr: 'Ce lien ne fonctionne pas',
  es: 'Este enlace no funciona',
};

for (const [language, title] of Object.entries(BROKEN)) {
  test(`a broken link says so in the language ${language}, in the style of the other pages`, async () => {
    for (const url of ['/u/broken', '/c/broken', '/o/broken', '/confirm/broken', '/nothing']) {
      const { statusCode, body, headers } = await pages.inject({
        ...{ method: 'GET', url },
        headers: { 'accept-language': language },
      });
      assert.equal(statusCode, 404, url);
      assert.match(
        body,
        new RegExp(`<html lang="${language}">.*<title>${title}</title>.*<h1>${title}</h1>`, 's'),
      );
      assert.match(body, /<link rel="stylesheet" href="\/preferences\.css"/);
      assert.match(String(headers['content-security-policy']), /default-src 'none'; style-src 'self'; /);
      assert.deepEqual(
        [headers['content-type'], headers['cache-control'], headers['x-robots-tag']],
        ['text/html; charset=utf-8', 'no-store', 'noindex'],
      );
    }
  });
}

test('another method and a form that cannot be read have words of their own', async () => {
  const removed = await pages.inject({ method: 'DELETE', url: '/u/broken' });
  assert.deepEqual([removed.statusCode, /does not work/.test(removed.body)], [405, true]);
  const unreadable = await pages.inject({
    ...{ method: 'POST', url: '/u/broken', payload: 'x' },
    headers: { 'content-type': 'text/plain', 'accept-language': 'de' },
  });
  assert.equal(unreadable.statusCode, 400);
  assert.match(unreadable.body, /nicht gelesen werden, und nichts hat sich geändert/);
  assert.doesNotMatch(unreadable.body, /The form/);
});
