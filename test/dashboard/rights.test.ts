/**
 * All pages and all actions by all roles, tenants and modes: what belongs to others looks like what does not exist, byte for byte, and what
 * somebody may not do is refused and changes nothing.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { PageDefinition } from '../../src/dashboard/page.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import { type Browser, formsOf, logIn } from '../support/browser.ts';
import { fillMode, hasParameters, pathOf, type Shown } from '../support/dashboard/paths.ts';
import { OF_ASKING, rowsBesideRequests } from '../support/database-rows.ts';
import { openPopulated } from '../support/resources/populated.ts';

const world = await openPopulated();
const { testApp, owner, stranger } = world;
after(() => world.close());

const inTest = await fillMode(world, owner, { tenantName: 'default', mode: 'test' });
const inLive = await fillMode(world, owner, { tenantName: 'default', mode: 'live' });
const ofStranger = await fillMode(world, stranger, { tenantName: 'stranger', mode: 'test' });
const browsers = {
  owner: await logIn(testApp),
  viewer: await logIn(testApp, { role: 'viewer' }),
  admin: await logIn(testApp, { role: 'admin' }),
  stranger: await logIn(testApp, { tenantId: stranger.tenantId }),
};
const OF_TENANT = PAGES.filter(({ area }) => area === 'tenant');

/** Ids of the same kinds as those of a tenant, which nobody has. */
const nothing = (shown: Shown): Shown => ({
  ...shown,
  ids: Object.fromEntries(
    Object.entries(shown.ids).map(([prefix, id]) => [prefix, madeUp(id)]),
  ) as Shown['ids'],
  files: Object.fromEntries(
    Object.entries(shown.files).map(([name, id]) => [name, madeUp(id)]),
  ) as Shown['files'],
});
/** Returns an id with the same time and another random part. */
const madeUp = (id: string) => `${id.slice(0, -8)}00000000`;

/** Returns an answer without the ids of its path and without what is different at each request. */
function comparable({ status, html }: { status: number; html: string }, path: string): [number, string] {
  const ids = path.match(/\b[a-z]+_\w{26}\b/g) ?? [];
  const without = html.replace(/name="_once" value="[^"]*"/g, '').replace(/req_\w+/g, '');
  return [status, ids.reduce((text, id) => text.replaceAll(id, 'ID'), without)];
}

const get = (browser: Browser, path: string) => browser.send(path, { method: 'GET' });
const post = (browser: Browser, path: string, body: string) => browser.send(path, { method: 'POST', body });

const rows = () => rowsBesideRequests(testApp);

const withIds = OF_TENANT.filter(hasParameters);

test('the owner of a tenant opens every page of what the tenant has', async () => {
  for (const shown of [inTest, inLive]) {
    for (const page of OF_TENANT) {
      const { status, html } = await get(browsers.owner, pathOf(page, shown));
      assert.equal(status, 200, `${pathOf(page, shown)}: ${html.slice(0, 3000)}`);
    }
  }
});

test('what belongs to another tenant is the page of what does not exist, byte for byte', async () => {
  for (const page of withIds) {
    const there = { tenantName: 'stranger' } as const;
    const [foreign, missing] = [
      pathOf(page, { ...inTest, ...there }),
      pathOf(page, { ...nothing(inTest), ...there }),
    ];
    const seen = comparable(await get(browsers.stranger, foreign), foreign);
    assert.equal(seen[0], 404, foreign);
    assert.deepEqual(seen, comparable(await get(browsers.stranger, missing), missing), foreign);
  }
});

test('what belongs to another tenant is not found below what belongs to oneself', async () => {
  for (const page of withIds.filter(({ path }) => path.split(':').length > 2)) {
    const last = (from: Shown) => pathOf(page, from).split('/').at(-1) ?? '';
    const foreign = pathOf(page, ofStranger).replace(last(ofStranger), last(inTest));
    const missing = pathOf(page, ofStranger).replace(last(ofStranger), last(nothing(inTest)));
    if (foreign === pathOf(page, ofStranger)) continue;
    const seen = comparable(await get(browsers.stranger, foreign), foreign);
    assert.equal(seen[0], 404, foreign);
    assert.deepEqual(seen, comparable(await get(browsers.stranger, missing), missing), foreign);
  }
});

test('what belongs to the other mode is the page of what does not exist; what both modes share is shown in both', async () => {
  const found: string[] = [];
  for (const page of withIds) {
    const path = pathOf(page, { ...inLive, mode: 'test' });
    const seen = comparable(await get(browsers.owner, path), path);
    if (seen[0] === 200) found.push(routeOf(page).split('/')[4] ?? '');
    else {
      const missing = pathOf(page, { ...nothing(inLive), mode: 'test' });
      assert.deepEqual(seen, comparable(await get(browsers.owner, missing), missing), path);
    }
  }
  assert.deepEqual([...new Set(found)].sort(), SHARED);
});

const SHARED = [
  'audiences',
  'domains',
  'exports',
  'imports',
  'inbound',
  'mailboxes',
  'routes',
  'segments',
  'suppressions',
  'templates',
  'topics',
];

type Posted = { page: PageDefinition; name: string; needs: string; shown: Shown };

/** Every action of the pages of a tenant, in both modes. */
const ACTIONS: readonly Posted[] = OF_TENANT.flatMap((page) =>
  Object.entries(page.actions ?? {}).flatMap(([name, { needs = 'write' }]) =>
    [inTest, inLive].map((shown) => ({ page, name, needs, shown })),
  ),
);

test('an own page or action without the right is 403 and changes nothing', async () => {
  const before = rows();
  for (const page of OF_TENANT) {
    const { needs = 'read' } = page;
    const seen = await Promise.all(
      [browsers.viewer, browsers.admin].map((one) => get(one, pathOf(page, inTest))),
    );
    const expected = [needs === 'read' ? 200 : 403, needs === 'manage' ? 403 : 200];
    assert.deepEqual(
      seen.map(({ status }) => status),
      expected,
      routeOf(page),
    );
  }
  for (const { page, name, needs, shown } of ACTIONS) {
    const refused =
      needs === 'read' ? [] : needs === 'write' ? [browsers.viewer] : [browsers.viewer, browsers.admin];
    for (const browser of refused) {
      const path = pathOf(page, shown);
      assert.equal((await post(browser, path, await filledForm(path, name))).status, 403, `${path} ${name}`);
    }
  }
  assert.deepEqual(rows(), before);
});

/** Returns the form of an action with the values that its owner would send, so that nothing but the missing right refuses it. */
async function filledForm(path: string, action: string): Promise<string> {
  const { html } = await get(browsers.owner, path);
  const form = formsOf(html).find(({ values }) => values.get('_action') === action);
  return String(form?.values ?? new URLSearchParams({ _action: action }));
}

/** Returns all rows but those of the audit log, which has attempts that were refused. */
function rowsBesideAudit(): Record<string, string> {
  const { auditEntries, ...others } = rows();
  return others;
}

test('an action on what belongs to another tenant, or to the other mode, is that on what does not exist, and changes nothing', async () => {
  const before = rowsBesideAudit();
  const ways = [
    { browser: browsers.stranger, as: { tenantName: 'stranger' } },
    { browser: browsers.owner, as: { mode: 'test' } as const },
  ];
  for (const { browser, as } of ways) {
    for (const { page, name, needs, shown } of ACTIONS.filter((one) => hasParameters(one.page))) {
      const [own, path] = [pathOf(page, shown), pathOf(page, { ...shown, ...as })];
      if (own === path || (as.mode !== undefined && SHARED.includes(routeOf(page).split('/')[4] ?? '')))
        continue;
      const form = await filledForm(own, name);
      const missing = pathOf(page, { ...nothing(shown), ...as });
      const seen = comparable(await post(browser, path, form), path);
      // A preview is made of what the form says.
      if (needs !== 'read' || seen[0] !== 200) assert.equal(seen[0], 404, `${path} ${name}`);
      assert.deepEqual(seen, comparable(await post(browser, missing, form), missing), `${path} ${name}`);
    }
  }
  assert.deepEqual(rowsBesideAudit(), before);
});

test('a form of another tenant, sent to a page of one’s own, changes nothing of that tenant', async () => {
  const before = rowsOf(owner.tenantId);
  for (const page of OF_TENANT.filter(({ actions }) => actions)) {
    const { html } = await get(browsers.owner, pathOf(page, inTest));
    for (const { values } of formsOf(html).filter((form) => form.values.has('_action'))) {
      values.delete('_once');
      const { status } = await post(browsers.stranger, pathOf(page, ofStranger), String(values));
      assert.ok(status < 500, `${routeOf(page)} ${values}`);
    }
  }
  assert.deepEqual(rowsOf(owner.tenantId), before);
});

/** Returns the rows of a tenant, by table. */
function rowsOf(tenantId: string): Record<string, string> {
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'), { readonly: true });
  try {
    const tables = database
      .prepare<[], string>(
        `SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'tenantId'`,
      )
      .pluck()
      .all()
      .filter((name) => !OF_ASKING.includes(name));
    return Object.fromEntries(
      tables.map((name) => [
        name,
        JSON.stringify(database.prepare(`SELECT * FROM "${name}" WHERE tenantId = ?`).all(tenantId)),
      ]),
    );
  } finally {
    database.close();
  }
}

test('the pages and the actions of the operator do not exist for the owner of a tenant', async () => {
  const before = rows();
  for (const page of PAGES.filter(({ area }) => area === 'operator')) {
    const path = pathOf(page, inTest);
    const missing = comparable(await get(browsers.owner, '/operator/nothing/at/all'), '');
    assert.equal(missing[0], 404);
    assert.deepEqual(comparable(await get(browsers.owner, path), ''), missing, path);
    for (const name of Object.keys(page.actions ?? {}))
      assert.equal((await post(browsers.owner, path, `_action=${name}`)).status, 404, `${path} ${name}`);
  }
  assert.deepEqual(rows(), before);
});
