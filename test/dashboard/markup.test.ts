/**
 * The HTML of all pages: html-validate finds nothing in it, and none is large. They are empty, full, of a new installation and in error, in both
 * languages; on those in German, English sentences say that they are English.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { REPLY_CLASSES } from '../../src/queue/outcome/replies/meaning.ts';
import { formsOf } from '../support/browser.ts';
import { findEnglish, findRawValues } from '../support/dashboard/english.ts';
import { findMarkupFaults, isPage } from '../support/dashboard/markup.ts';
import { type Visit, visitEmpty, visitFull, visitNew } from '../support/dashboard/visits.ts';
import { openPopulated } from '../support/resources/populated.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openPopulated();
const installation = await openTestApp();
after(async () => {
  await world.close();
  await installation.close();
});

/** Values of the API that are words: those of all enumerations, and the classes of replies. Ids of plans and names of events are none. */
const document = JSON.stringify((await installation.openServer()).openApi());
const enumerations = [...document.matchAll(/"enum":(\[[^\]]*\])/g)].flatMap(([, list = '']) =>
  JSON.parse(list),
);
const values = new Set<string>([
  ...REPLY_CLASSES,
  ...enumerations.filter((value) => /^[a-z_-]{4,}$/.test(value)),
]);

/**
 * Returns true for a page whose HTML is looked at in this language. A page of a tenant consists of the same elements in both modes, so the
 * languages share the modes.
 */
function isValidated(path: string, language: string): boolean {
  return !path.startsWith(`/t/default/${language === 'en' ? 'live' : 'test'}`);
}

async function walk(
  visits: readonly Visit[],
  language: string,
): Promise<{ pages: number; faults: string[] }> {
  const faults: string[] = [];
  let pages = 0;
  for (const { browser, paths } of visits) {
    for (const path of paths) {
      const answer = await browser.send(path, { method: 'GET', headers: { 'accept-language': language } });
      if (answer.status !== 200) faults.push(`${path}: ${answer.status}`);
      else if (isPage(answer)) {
        pages += 1;
        assert.match(answer.html, new RegExp(`<html lang="${language}"`), path);
        if (language !== 'en') {
          const found = [...findEnglish(answer.html), ...findRawValues(answer.html, values)];
          faults.push(...found.map((text) => `${path}: ${text}`));
        }
        if (isValidated(path, language)) faults.push(...(await findMarkupFaults(path, answer)));
      }
    }
  }
  return { pages, faults };
}

const full = await visitFull(world);
const empty = await visitEmpty(world);
const installed = await visitNew(installation);

for (const language of ['en', 'de']) {
  test(`every page is valid and at most 100 kB, empty, full and of a new installation, in ${language}`, async () => {
    for (const [visits, least] of [
      [full, 140],
      [empty, 30],
      [installed, 20],
    ] as const) {
      const { pages, faults } = await walk(visits, language);
      assert.deepEqual(faults, []);
      assert.ok(pages >= least, `only ${pages} pages were found`);
    }
  });
}

test('every page that refuses a form is valid, and says why beside the button', async () => {
  let refusals = 0;
  const faults: string[] = [];
  for (const { browser, paths } of full) {
    for (const path of paths.filter((one) => !one.includes('/live'))) {
      const page = await browser.send(path, { method: 'GET' });
      if (page.status !== 200 || !isPage(page)) continue;
      for (const values of formsThatNeedSomething(page.html)) {
        const answer = await browser.send(path, { method: 'POST', body: String(values) });
        const what = `${path} ${values.get('_action')}`;
        // Without a session there is nobody to enter a code, and the answer leads to the login.
        if (path === '/login/code' && answer.status === 303) continue;
        if (answer.status !== 422 && answer.status !== 403) faults.push(`${what}: ${answer.status}`);
        else if (!answer.html.includes('class="refused" role="alert"')) faults.push(`${what}: no reason`);
        refusals += 1;
        faults.push(...(await findMarkupFaults(what, answer)));
      }
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(refusals >= 20, `only ${refusals} forms were refused`);
});

/** Returns the forms of a page that have a field which must be filled, with that field empty. */
function formsThatNeedSomething(html: string): URLSearchParams[] {
  const required = [...html.matchAll(/<(?:input|textarea|select)[^>]* name="([^"]*)"[^>]* required/g)].map(
    ([, name]) => name ?? '',
  );
  return formsOf(html).flatMap(({ values }) => {
    const [empty] = required.filter((name) => values.has(name));
    if (empty === undefined || !values.has('_action')) return [];
    values.set(empty, '');
    return [values];
  });
}

test('the pages of errors are valid', async () => {
  const [owner, , nobody] = full;
  assert.ok(owner && nobody);
  for (const [browser, path, status] of [
    [owner.browser, '/t/default/test/nothing', 404],
    [owner.browser, '/t/nobody/test', 404],
    [nobody.browser, '/link/nothing', 200],
  ] as const) {
    const answer = await browser.send(path, { method: 'GET' });
    assert.equal(answer.status, status, path);
    assert.deepEqual(await findMarkupFaults(path, answer), []);
  }
});
