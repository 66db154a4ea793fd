/**
 * Texts of strangers stay texts: two hundred payloads in everything that pages show, and in every parameter of every page, run nothing, load
 * nothing, and are refused nothing by the policy of a page.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { newId } from '../../src/system/ids.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { formsOf } from '../support/browser.ts';
import { openHostile } from '../support/dashboard/hostile.ts';
import { findMarkupFaults, isPage } from '../support/dashboard/markup.ts';
import { ELEMENTS, SOME_PAYLOADS } from '../support/dashboard/payloads.ts';
import { poison } from '../support/dashboard/poison.ts';
import { isNoPage, isTooWide, openPages } from './dashboard/pages.ts';

const IS_FULL = process.env['POSTRIDER_FULL'] !== undefined;
/** Without POSTRIDER_FULL, a browser sees every second page, and every third one has its forms sent. All are looked at as HTML. */
const shareOf = (paths: readonly string[], every: number) =>
  paths.filter((_, index) => IS_FULL || index % every === 0);
const NARROW = { viewport: { width: 360, height: 800 } };

/** Names the elements of a page that a payload has made, if one has. Charts set styles by themselves. */
const FIND_FOREIGN = `[...document.querySelectorAll('*')].flatMap((element) => {
  const isInline = element.localName === 'style' || (element.localName === 'script' && !element.src);
  const attributes = [...element.attributes].filter(({ name, value }) => {
    const isLink = ['href', 'src', 'action', 'formaction', 'hx-get', 'hx-post', 'data'].includes(name);
    const url = isLink && URL.canParse(value, location.href) ? new URL(value, location.href) : undefined;
    const leadsAway = url && (url.protocol === 'javascript:' || url.hostname.endsWith('evil.example'));
    return leadsAway || /^(?:on|hx-on|srcdoc$|http-equiv$)/.test(name) || (name === 'style' && /evil/.test(value));
  });
  return [...(isInline ? [element.localName] : []), ...attributes.map(({ name }) => element.localName + ' ' + name)];
})`;

function findForeign(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(FIND_FOREIGN);
}

const { world, walk, enter } = await openPages();
const visits = await openHostile(world);
const [person, , nobody] = visits;

test('the payloads would be noticed: a page without escapes runs them, and a policy that refuses them says so', async () => {
  const visitor = await enter(nobody.browser);
  const { page, faults } = visitor;
  await visitor.open('/login');
  const some = IS_FULL ? ELEMENTS : ELEMENTS.filter((_, index) => index % 7 === 0);
  const missed: string[] = [];
  // A page that leads elsewhere by itself does so before anybody can look.
  for (const payload of some.filter((one) => !one.includes('refresh'))) {
    await page.setContent(`<!doctype html><main>${payload}</main>`);
    if ((await findForeign(page)).length === 0) missed.push(payload);
  }
  assert.deepEqual(missed, []);
  assert.match(faults.splice(0).join('\n'), /Content Security Policy/);
  await page.route('**/unescaped', (route) =>
    route.fulfill({ contentType: 'text/html', body: ELEMENTS.join('') }),
  );
  await visitor.open('/unescaped');
  await page.waitForLoadState('networkidle');
  assert.match(faults.join('\n'), /a payload has run/);
  assert.match(faults.join('\n'), /evil\.example\S* was asked/);
  await visitor.close();
});

/** Returns the names of parameters that a page reads: those of its filters. */
function filtersOf(html: string): string[] {
  const forms = html.match(/<form method="get".*?<\/form>/gs) ?? [];
  return forms.flatMap((form) =>
    [...form.matchAll(/<(?:input|select)[^>]* name="(\w+)"/g)].map(([, name = '']) => name),
  );
}

/** Returns the names of parameters that the source reads by themselves. */
async function readNames(): Promise<string[]> {
  const names = new Set(['startingAfter', 'endingBefore']);
  for (const file of await readdir(DASHBOARD, { recursive: true })) {
    if (!/\.tsx?$/.test(file)) continue;
    const source = await readFile(new URL(file, DASHBOARD), 'utf8');
    for (const [, name = ''] of source.matchAll(/query\.get\('(\w+)'\)/g)) names.add(name);
  }
  return [...names];
}
const DASHBOARD = new URL('../../src/dashboard/', import.meta.url);

/** Ways out of every place, and what runs. It fits into an address. */
const REFLECTED = `"'></textarea></title></option></select>${ELEMENTS.slice(0, 19).join('')} " autofocus onfocus="x`;

/** Returns the parts of a payload that stand in HTML as they are. */
function unescapedIn(html: string): string[] {
  return [...ELEMENTS.slice(0, 19), '" autofocus onfocus'].filter((part) => html.includes(part));
}

test('every page with all payloads in each of its fields answers, shows them as text, and is valid HTML', async () => {
  const faults: string[] = [];
  for (const { browser, paths } of visits) {
    for (const [index, path] of paths.entries()) {
      const answer = await browser.send(path, { method: 'GET' });
      if (answer.status !== 200) faults.push(`${path}: ${answer.status}`);
      if (isPage(answer)) faults.push(...unescapedIn(answer.html).map((part) => `${path}: ${part}`));
      if (IS_FULL || index % 8 === 0)
        faults.push(...(await findMarkupFaults(path, answer, Number.POSITIVE_INFINITY)));
    }
  }
  assert.deepEqual(faults, []);
  // One text with everything in each field would take a browser minutes to lay out.
  if (!IS_FULL) poison(world.testApp, SOME_PAYLOADS);
});

test('every parameter of every page is shown as text', async () => {
  const found: string[] = [];
  let requests = 0;
  const names = await readNames();
  assert.ok(names.length > 15);
  for (const { browser, paths } of visits) {
    for (const path of paths.filter((one) => !isNoPage(one))) {
      const own = new Set(filtersOf((await browser.open(path)).html));
      for (const asked of [[...names, ...own], ...[...own].map((name) => [name])]) {
        const query = new URLSearchParams(asked.map((name) => [name, REFLECTED]));
        const { status, html } = await browser.send(`${path.split('?')[0]}?${query}`, { method: 'GET' });
        requests += 1;
        if (status >= 500) found.push(`${path}: ${status} for ${asked}`);
        found.push(...unescapedIn(html).map((part) => `${path}, ${asked}: ${part}`));
      }
    }
  }
  assert.deepEqual(found, []);
  assert.ok(requests > 200, `only ${requests} requests were made`);
});

test('no payload runs or loads anything on any page, and no policy has to refuse anything', async () => {
  const found: string[] = [];
  let pages = 0;
  const seen = visits.map(({ browser, paths }) => ({ browser, paths: shareOf(paths, 2) }));
  const faults = await walk(seen, NARROW, async ({ page, takeScreenshot }, path) => {
    pages += 1;
    found.push(...(await findForeign(page)).map((fault) => `${path}: ${fault}`));
    if (await isTooWide(page)) found.push(`${path}: wider than the screen`);
    await takeScreenshot(`hostile${path.replace(/_\w{26}/g, '')}`);
  });
  assert.deepEqual([found, faults], [[], []]);
  assert.ok(pages >= 50, `only ${pages} pages were seen`);
});

test('lines of the live views are text', async () => {
  const { tenantId } = world.owner;
  for (const path of ['/t/default/test/tail', '/operator/tail']) {
    const visitor = await enter(person.browser);
    await visitor.open(path);
    for (const text of ELEMENTS) {
      const createdAt = world.testApp.app.clock.now();
      const data = JSON.stringify({ to: text, from: text, bounce: { diagnostic: text } });
      insertRow(world.testApp, 'events', {
        ...{
          id: newId('evt', createdAt),
          tenantId,
          mode: 'test',
          type: 'email.bounced',
          emailId: null,
          data,
          createdAt,
        },
        fannedOut: 1,
      });
    }
    await visitor.page.locator('#tail tbody tr').first().waitFor();
    await visitor.sees(/evil\.example/);
    assert.deepEqual([await findForeign(visitor.page), visitor.faults], [[], []]);
    await visitor.close();
  }
});

test('foreign HTML runs nothing and asks nobody, also when somebody opens its frame as a page', async () => {
  let frames = 0;
  for (const { browser, paths } of visits) {
    const visitor = await enter(browser, NARROW);
    for (const path of paths.filter((one) => /\/(?:preview|html)$/.test(one))) {
      frames += 1;
      await visitor.open(path);
      assert.deepEqual(visitor.faults, [], path);
    }
    await visitor.close();
  }
  assert.ok(frames >= 5, `only ${frames} frames were seen`);
});

test('a form that is full of payloads is answered with text', async () => {
  const found: string[] = [];
  let sent = 0;
  for (const { browser, paths } of visits) {
    for (const path of shareOf(paths, 3).filter((one) => !isNoPage(one) && !one.startsWith('/log'))) {
      const { html } = await browser.open(path);
      for (const { values } of formsOf(html)) {
        const texts = [...values].filter(
          ([name, value]) => !name.startsWith('_') && !/^\w+_\w{26}$/.test(value),
        );
        if (!values.has('_action') || texts.length === 0) continue;
        for (const [name] of texts) values.set(name, REFLECTED);
        const answer = await browser.send(path, { method: 'POST', body: String(values) });
        sent += 1;
        if (answer.status >= 500) found.push(`${path} ${values.get('_action')}: ${answer.status}`);
        found.push(...unescapedIn(answer.html).map((part) => `${path} ${values.get('_action')}: ${part}`));
      }
    }
  }
  assert.deepEqual(found, []);
  assert.ok(sent >= 20, `only ${sent} forms were sent`);
});
