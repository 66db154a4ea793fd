/** What holds for every page: who may open it, and that nobody learns of what belongs to others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Area, PageDefinition } from '../../src/dashboard/page.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import { type Browser, formsOf, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

let testApp: TestApp;
before(async () => {
  testApp = await openTestApp();
  await testApp.addTenant('stranger');
});
after(() => testApp.close());

/** Returns the path of a page in a tenant and a mode. Parameters are of the shape of an id that does not exist. */
function pathOf(page: PageDefinition, { tenant = 'default', mode = 'test' } = {}): string {
  return routeOf(page).replace(':tenant', tenant).replace(':mode', mode).replace(/:\w+/g, 'nothing');
}

const hasParameters = (page: PageDefinition) => routeOf(page).replace('/t/:tenant/:mode', '').includes(':');
const pagesOf = (area: Area) => PAGES.filter((page) => page.area === area);

/** Returns a page without what is different at each request. */
function withoutOnce(html: string): string {
  return html.replace(/name="_once" value="[^"]*"/g, '').replace(/req_\w+/g, '');
}

async function get(browser: Browser, path: string) {
  return browser.send(path, { method: 'GET' });
}

test('no page of a tenant, of an account, of a mailbox or of the operator opens before logging in', async () => {
  const browser = await openBrowser(testApp);
  for (const page of PAGES.filter(({ area, path }) => area !== 'public' && path !== '/login')) {
    const { status, headers } = await get(browser, pathOf(page));
    assert.equal(status, 303, routeOf(page));
    assert.match(String(headers['location']), /^\/(?:mailbox\/)?login\?to=/, routeOf(page));
  }
});

test('the owner of a tenant opens each of its pages, in both modes', async () => {
  const owner = await logIn(testApp);
  for (const page of pagesOf('tenant').filter((one) => !hasParameters(one))) {
    for (const mode of ['live', 'test']) {
      const { status, html } = await get(owner, pathOf(page, { mode }));
      assert.equal(status, 200, `${routeOf(page)}: ${html}`);
    }
  }
  for (const page of pagesOf('account').filter((one) => !hasParameters(one)))
    assert.equal((await get(owner, pathOf(page))).status, 200, routeOf(page));
});

test('pages of another tenant look like pages of none, and those of the operator exist for operators alone', async () => {
  const owner = await logIn(testApp);
  for (const page of pagesOf('tenant')) {
    const foreign = await get(owner, pathOf(page, { tenant: 'stranger' }));
    const missing = await get(owner, pathOf(page, { tenant: 'nobody' }));
    assert.deepEqual([foreign.status, missing.status], [404, 404], routeOf(page));
    assert.equal(withoutOnce(foreign.html), withoutOnce(missing.html));
  }
  const operator = await logIn(testApp, { isOperator: true, tenantId: null });
  for (const page of pagesOf('operator').filter((one) => !hasParameters(one))) {
    assert.equal((await get(owner, pathOf(page))).status, 404, routeOf(page));
    assert.equal((await get(operator, pathOf(page))).status, 200, routeOf(page));
  }
});

test('whoever lacks the right for an action is refused with 403, and the tenant of others is not found', async () => {
  const browsers = {
    viewer: await logIn(testApp, { role: 'viewer' }),
    admin: await logIn(testApp, { role: 'admin' }),
  };
  for (const page of pagesOf('tenant')) {
    for (const [name, { needs = 'write' }] of Object.entries(page.actions ?? {})) {
      const body = `_action=${name}`;
      const post = (browser: Browser, tenant: string) =>
        browser.send(pathOf(page, { tenant }), { method: 'POST', body });
      const what = `${routeOf(page)} ${name}`;
      if (needs !== 'read') assert.equal((await post(browsers.viewer, 'default')).status, 403, what);
      if (needs === 'manage') assert.equal((await post(browsers.admin, 'default')).status, 403, what);
      assert.equal((await post(browsers.admin, 'stranger')).status, 404, what);
    }
  }
});

test('a form that is sent twice runs once, and its second answer is the first one', async () => {
  const owner = await logIn(testApp);
  await owner.open('/t/default/test/team');
  const [form] = formsOf(owner.page.html).filter(({ values }) => values.get('_action') === 'invite');
  const values = new URLSearchParams(form?.values);
  values.set('email', 'twice@people.example');
  const post = () => owner.send('/t/default/test/team', { method: 'POST', body: String(values) });
  const answers = await Promise.all([post(), post()]);
  answers.push(await post());
  const links = answers.map(({ html }) => /\/link\/[\w-]{43}/.exec(html)?.[0]);
  assert.equal(new Set(links).size, 1, String(links));
  await owner.open('/t/default/test/team');
  assert.equal(owner.page.html.split('twice@people.example').length, 2);
});

test('what people change is in the audit log, without secrets', async () => {
  const owner = await logIn(testApp, { email: 'auditor@people.example' });
  await owner.open('/account');
  await owner.submit('password', { currentPassword: PASSWORD, newPassword: 'a very secret password' });
  await owner.open('/t/default/live/team');
  await owner.submit('invite', { email: 'invited@people.example', role: 'viewer' });
  await owner.open('/t/default/live/audit');
  assert.match(owner.page.html, /auditor@people\.example/);
  assert.match(owner.page.html, /invited@people\.example/);
  assert.match(owner.page.html, /Invited somebody<small class="muted"> \(Live\)/);
  const rows = await testApp.app.db.read.selectFrom('auditEntries').selectAll().execute();
  assert.ok(rows.some(({ action }) => action === 'account password'));
  assert.ok(!rows.some(({ details }) => details.includes('secret') || details.includes(PASSWORD)));
});
