/** The operator looks after certificates, DNS, backups, outbound routes, failed tasks and a restored installation, and sees the settings. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CERTIFICATE_ORDERS, changeNames } from '../../src/certificates/acme/store.ts';
import { formsIn } from '../../src/dashboard/audit/forms-in.ts';
import { recordRestored } from '../../src/db/installation/store.ts';
import { addSuppressions } from '../../src/suppressions/change.ts';
import { newId } from '../../src/system/ids.ts';
import { leaseOf } from '../../src/tasks/kind.ts';
import { failTask } from '../../src/tasks/store.ts';
import { logIn } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
import { leaseTasksOf } from '../support/tasks.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const testApp = await openTestApp({
  env: {
    POSTRIDER_ACME_DIRECTORY: 'https://ca.example/',
    POSTRIDER_ACME_ACCEPT_TERMS: 'true',
    POSTRIDER_ACME_EMAIL: 'ops@admin.example',
  },
});
after(() => testApp.close());
const operator = await logIn(testApp, { isOperator: true, tenantId: null });

test('the certificates are read again, and another account is asked for before it is made', async () => {
  assert.match((await operator.open('/operator/certificates')).html, /No certificate is configured/);
  await operator.submit('reload');
  assert.match(operator.page.html, /All files were read again/);
  await operator.submit('newAccount');
  assert.equal(operator.page.status, 422);
  assert.match(operator.page.html, /class="refused" role="alert"/);
});

test('the records of the machine are listed, and compared with DNS when the operator asks', async () => {
  const { html } = await operator.open('/operator/dns');
  assert.match(html, /bounce\.mx\.postrider\.example/);
  assert.match(html, /<code>nameserver\.enabled<\/code>/);
  assert.match(html, /<code>dns\.update\.server<\/code>/);
  await operator.submit('check');
  assert.match(operator.page.html, /class="status bad">missing/);
});

test('a backup is made and verified from the page', async () => {
  await operator.open('/operator/backups');
  await operator.submit('make');
  await waitUntil(async () => /succeeded/.test((await operator.open('/operator/backups')).html));
  await operator.submit('verify');
  await waitUntil(async () => /undamaged/.test((await operator.open('/operator/backups')).html));
  assert.match((await operator.open('/operator/audit')).html, /Started the verification of a backup/);
});

test('a route is created, its password is never shown, and it is removed', async () => {
  await operator.open('/operator/outbound-routes');
  await operator.submit('save', { name: 'relay', hosts: 'relay.example\nbackup.example', port: 'x' });
  assert.equal(operator.page.status, 422);
  await operator.submit('save', {
    name: 'relay',
    hosts: 'relay.example\nbackup.example',
    port: '2587',
    user: 'me',
    password: 'hunter2',
  });
  assert.match(operator.page.html, /relay\.example, backup\.example, port 2587 \(STARTTLS\)/);
  for (const page of ['/operator/outbound-routes', '/operator/audit'])
    assert.doesNotMatch((await operator.open(page)).html, /hunter2/);
  await operator.open('/operator/outbound-routes');
  await operator.submit('check');
  assert.match(operator.page.html, /Check of the route relay/);
  await operator.open('/operator/outbound-routes');
  await operator.submit('remove');
  assert.match(operator.page.html, /No routes/);
});

test('an exception to a relay needs no TLS', async () => {
  await operator.open('/operator/outbound-routes');
  await operator.submit('save', { name: 'direct', domain: 'direct.example' });
  assert.match(operator.page.html, /<td><bdi class="foreign" dir="auto">MX hosts<\/bdi>/);
  await operator.submit('save', { name: 'direct', domain: 'direct.example', tlsPolicy: 'required' });
  assert.match(operator.page.html, /MX hosts, with TLS with any certificate<\/bdi>/);
  await operator.submit('save', { name: 'relay', hosts: 'relay.example', tlsPolicy: 'none' });
  assert.match(operator.page.html, /is for MX hosts: TLS with a relay is always verified/);
});

test('a task that has failed is run again or discarded', async () => {
  const { app } = testApp;
  const name = { name: 'mx.example', tenantId: null, directory: 'https://ca.example/' };
  const added = [{ ...name, privateKeySealed: 'sealed' }];
  await app.db.commit(changeNames, { added, removed: [], moved: [], now: app.clock.now() });
  const fail = async () => {
    for (const leased of await leaseTasksOf(app, { kind: CERTIFICATE_ORDERS }))
      await app.db.commit(failTask, { lease: leaseOf(leased), error: 'It is <b>broken</b>' });
    return operator.open('/operator/tasks');
  };
  assert.match((await fail()).html, /It is &lt;b>broken|It is &lt;b&gt;broken/);
  await operator.submit('retry');
  assert.match(operator.page.html, /No task has failed/);
  await fail();
  await operator.submit('discard');
  assert.match(operator.page.html, /No task has failed/);
});

test('each list of the operator goes on page by page', async () => {
  const many = JSON.stringify(Array.from({ length: 31 }, (_, index) => `many-${10 + index}`));
  execute(
    testApp,
    `DELETE FROM outboundRoutes;
     INSERT INTO tasks (kind, reference, queueKey, attempts, error)
       SELECT 'exports', value, 'q', 8, 'No' FROM json_each('${many}');
     INSERT INTO outboundRoutes (name, domain, port, tls, isPrivate, createdAt, updatedAt)
       SELECT value, value || '.example', 587, 'starttls', 0, 0, 0 FROM json_each('${many}');`,
  );
  for (const page of ['/operator/tasks', '/operator/outbound-routes']) {
    const first = await operator.open(page);
    assert.deepEqual(new Set(first.html.match(/>many-\d\d</g)).size, 30, page);
    const [, next = ''] = /href="([^"]*after=[^"]*)" rel="next"/.exec(first.html) ?? [];
    const second = await operator.open(next.replaceAll('&amp;', '&'));
    assert.deepEqual(new Set(second.html.match(/>many-\d\d</g)), new Set(['>many-40<']), page);
    assert.match(second.html, /First page/);
  }
  assert.match((await operator.open('/operator/outbound-routes?name=MANY-40')).html, /many-40\.example/);
  execute(testApp, `DELETE FROM tasks WHERE kind = 'exports'; DELETE FROM outboundRoutes`);
});

test('what the operator does to a thing of a tenant stands in the log of the tenant', async () => {
  const { tenantId } = testApp;
  const actionsOfTenant = async () => {
    const rows = testApp.app.db.read.selectFrom('auditEntries').select('action');
    return (await rows.where('tenantId', '=', tenantId).execute()).map(({ action }) => action).sort();
  };
  await operator.open('/operator/outbound-routes');
  await operator.submit('save', { name: 'theirs', tenant: 'default', hosts: 'relay.example' });
  await operator.submit('remove');
  const owned = JSON.stringify(tenantId).replaceAll('"', "'");
  execute(
    testApp,
    `INSERT INTO tasks (kind, reference, queueKey, tenantId, attempts, error)
       VALUES ('exports', 'theirs', 'q', ${owned}, 8, 'No')`,
  );
  await operator.open('/operator/tasks');
  await operator.submit('discard');
  assert.deepEqual(await actionsOfTenant(), [
    'operator/outbound-routes remove',
    'operator/outbound-routes save',
    'operator/tasks discard',
  ]);
});

test('a setting that the environment sets says so', async () => {
  const { html } = await operator.open('/operator/settings?section=acme&source=environment');
  assert.match(html, /ops@admin\.example/);
  assert.match(html, /<code>POSTRIDER_ACME_EMAIL<\/code>/);
  assert.doesNotMatch(html, /<code>acme\.profile<\/code>/);
});

test('a restored installation shows what it keeps back, and is released by an action of the audit log', async () => {
  assert.match((await operator.open('/operator/restoration')).html, /Nothing is held back/);
  await testApp.app.db.commit(recordRestored, { now: testApp.app.clock.now() });
  assert.match((await operator.open('/operator/restoration')).html, /Recipients whose mail leaves at once/);
  await operator.submit('release');
  assert.match(operator.page.html, /Released\. What was held back leaves now/);
  assert.doesNotMatch(operator.page.html, /value="release"/);
  assert.match((await operator.open('/operator/audit')).html, /Released the restored installation/);
});

test('suppressions that would not be made now are examined when the operator asks, and removed one by one or as a page', async () => {
  const now = testApp.app.clock.now();
  const { tenantId } = testApp;
  const wanted = ['one', 'two', 'three'].map((name, index) => ({
    ...{ id: newId('sup', now + index), tenantId, email: `${name}@<i>.example`, reason: 'bounce' as const },
    ...{ sourceEmailId: 'em_old', diagnostic: '550 5.1.0 <b>sender rejected', createdAt: now },
  }));
  await testApp.app.db.commit(addSuppressions, { wanted, cause: { mode: 'live', now } });
  assert.doesNotMatch((await operator.open('/operator/suppressions')).html, /@&lt;i/);
  const { html } = await operator.open('/operator/suppressions?tenant=');
  assert.match(html, /one@&lt;i/);
  assert.doesNotMatch(html, /<b>sender|Remove the/);
  await operator.submit('remove');
  assert.doesNotMatch(operator.page.html, /one@&lt;i/);
  assert.match(operator.page.html, /two@&lt;i.*three@&lt;i/s);
  assert.match(
    (await operator.open('/operator/suppressions?tenant=nobody')).html,
    /class="refused" role="alert"/,
  );
  await operator.open('/operator/suppressions?tenant=default');
  assert.match(operator.page.html, /Remove the 2 suppressions on this page/);
  const id = wanted.slice(1).map((one) => one.id);
  const whole = formsIn(operator.page.html).find(({ hidden }) => hidden.getAll('id').length > 1);
  assert.deepEqual([whole?.hidden.get('tenant'), whole?.hidden.getAll('id')], ['default', id]);
  await operator.submit('remove', { tenant: 'default', id });
  assert.match(operator.page.html, /No suppression needs a review/);
  const owner = await logIn(testApp);
  assert.match(
    (await owner.open('/t/default/live/audit')).html,
    /Removed suppressions that the review listed/,
  );
});
