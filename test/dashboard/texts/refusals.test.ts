/** Forms that are refused say why in German, by the labels of the form; what is not translated says that it is English. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { formatsOf } from '../../../src/dashboard/formats.ts';
import { WithRefusal } from '../../../src/dashboard/frame/refusal.tsx';
import type { BaseContext } from '../../../src/dashboard/page.ts';
import { textsOf } from '../../../src/dashboard/texts/texts.ts';
import { AppError } from '../../../src/system/errors.ts';
import type { Id } from '../../../src/system/ids.ts';
import { type Browser, logIn, openBrowser, PASSWORD } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());

/** Returns a person that reads German. */
async function germanReader(options: { tenantId?: Id<'ten'> } = {}): Promise<Browser> {
  const browser = await logIn(testApp, options);
  await browser.open('/account');
  await browser.submit('profile', { language: 'de', name: 'Ann' });
  return browser;
}

function reasonIn({ page }: Browser): string {
  return /<div class="refused"[^>]*>(.*?)<\/div>/s.exec(page.html)?.[1] ?? page.html;
}

test('a wrong password, a wrong code, a missing field and a taken name are refused in German', async () => {
  const browser = await germanReader();
  await browser.open('/account');
  await browser.submit('password', { currentPassword: 'not this one', newPassword: PASSWORD });
  assert.equal(reasonIn(browser), 'Die Adresse oder das Passwort ist falsch.');
  await browser.submit('profile', { name: 'Ann', timeZone: 'Nowhere/Land' });
  assert.match(reasonIn(browser), /^„Zeitzone[^“]*“ muss der Name einer Zeitzone/);
  await browser.open('/t/default/live/domains/new');
  await browser.submit('add', { name: '' });
  assert.match(reasonIn(browser), /^„[^“]*“ darf nicht leer sein\.$/);
  await browser.submit('add', { name: 'taken.example' });
  await browser.open('/t/default/live/domains/new');
  await browser.submit('add', { name: 'taken.example' });
  assert.equal(reasonIn(browser), 'Die Domain taken.example gibt es schon.');
});

test('a refusal that a write has made in another thread is in German too', async () => {
  const { tenantId } = await testApp.addTenant('lonely');
  const browser = await germanReader({ tenantId });
  await browser.open('/account');
  await browser.submit('leave');
  assert.equal(
    reasonIn(browser),
    'Ein Mandant behält seinen letzten Inhaber; machen Sie zuerst ein anderes Mitglied zum Inhaber.',
  );
});

test('the login of somebody whose browser prefers German is refused in German', async () => {
  const browser = await openBrowser(testApp);
  const headers = { 'accept-language': 'de' };
  const entered = { _action: 'login', email: 'nobody@people.example', password: 'not this one' };
  const body = String(new URLSearchParams(entered));
  const { html } = await browser.send('/login', { method: 'POST', body, headers });
  assert.match(html, /role="alert"[^>]*>Die Adresse oder das Passwort ist falsch\./);
});

test('each of several reasons is in German, and one that nobody has translated is marked as English', () => {
  const issues = [
    { path: 'name', message: 'is required' },
    { path: 'color', message: 'must be pretty' },
  ];
  const refusal = new AppError('validation_error', '`color` must be pretty', { issues });
  const context = { formats: formatsOf('de', 'UTC'), texts: textsOf('de') } as BaseContext;
  const html = renderToString(h(WithRefusal, { context, refusal, children: null }));
  assert.match(html, /<span lang="en">`color` must be pretty<\/span><ul>/);
  assert.match(html, /<li>`name` fehlt\.<\/li>/);
  assert.match(html, /<li>`color`: <span lang="en">must be pretty<\/span><\/li>/);
});
