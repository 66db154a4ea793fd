/** The operator sees the health of the installation and the queue, and changes the queue after it has seen how much mail that reaches. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CHECKS } from '../../src/doctor/checks.ts';
import { recordFindings } from '../../src/doctor/store.ts';
import { logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { openSpool } from '../support/spool.ts';

const spool = await openSpool();
after(() => spool.close());
const operator = await logIn(spool, { isOperator: true, tenantId: null });

const SUBJECT = 'a subject that nobody but its reader sees';
const deferred = await spool.accept('ann@one.example', { subject: SUBJECT });
await spool.deliverDue();
await spool.clock.advance(1);
const ready = await spool.accept('bob@two.example', { subject: SUBJECT });

test('the first page says how the installation is, and that the checks have not run yet', async () => {
  const { html } = await operator.open('/operator');
  assert.match(html, /The checks have not run yet/);
  for (const { name } of CHECKS) assert.match(html, new RegExp(`<code>${name}</code>`));
  assert.match(html, /main [\d.,]+ ms/);
});

test('what the last run of the checks has found is shown with its advice, as text', async () => {
  const finding = {
    check: 'disk',
    subject: '/data',
    level: 'fail',
    says: 'it is <b>full</b>',
    advice: 'make space',
  } as const;
  const run = { checks: ['disk'], now: spool.clock.now() };
  await spool.app.db.commit(recordFindings, { ...run, findings: [finding] });
  const { html } = await operator.open('/operator');
  assert.match(html, /status bad">failure/);
  assert.match(html, /it is &lt;b>full|it is &lt;b&gt;full/);
  assert.match(html, /make space/);
  await spool.app.db.commit(recordFindings, { ...run, findings: [] });
  assert.match((await operator.open('/operator')).html, /found nothing wrong/);
});

test('the checks run when the operator asks, and say what to do', async () => {
  await operator.open('/operator');
  const { status, html } = await operator.submit('run');
  assert.equal(status, 200, html);
  assert.match(html, /Findings of all checks, just now/);
  assert.match(html, /Outgoing port 25/);
});

test('a check is silenced and reports again', async () => {
  await operator.open('/operator');
  await operator.submit('silence', { check: 'disk' });
  assert.match(operator.page.html, /class="status warning">silenced/);
  await operator.submit('unsilence', { check: 'disk' });
  assert.doesNotMatch(operator.page.html, /class="status warning">silenced/);
});

test('a row of links joins the pages of the queue, and marks the present one', async () => {
  const pages = [
    '/queue',
    '/queue/mail',
    '/queue/mail?state=held',
    '/queue/sites',
    '/queue/resting',
    '/queue/trace',
    '/queue/change',
    '/queue/actions',
  ];
  for (const path of [...pages, '/deliver-test', '/emails', '/broadcasts']) {
    const { html } = await operator.open(`/operator${path}`);
    const row = /<nav class="tabs" aria-label="Queue">.*?<\/nav>/s.exec(html)?.[0] ?? '';
    assert.equal(row.split('<a ').length, 12, path);
    assert.deepEqual(
      [...row.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, href]) => href),
      [`/operator${path}`],
    );
  }
});

test('without mail, the next attempt is none instead of never', async () => {
  const bare = await openSpool();
  const { html } = await (await logIn(bare, { isOperator: true, tenantId: null })).open('/operator');
  await bare.close();
  assert.match(html, /<dt>Next attempt<\/dt><dd><span class="muted">none/);
});

test('the queue is counted by domain, and its list is filtered', async () => {
  const { html } = await operator.open('/operator/queue');
  assert.match(html, /one\.example/);
  assert.match(html, /two\.example/);
  const listed = await operator.open('/operator/queue/mail?domain=one.example');
  assert.match(listed.html, /ann@one\.example/);
  assert.match(listed.html, /NXDOMAIN/);
  assert.doesNotMatch(listed.html, /bob@two\.example/);
});

test('the page of a domain says what waits there by tenant, what was answered last, and which actions apply', async () => {
  const { html } = await operator.open('/operator/queue');
  assert.match(html, /href="\/operator\/queue\/domains\/one\.example"/);
  const shown = await operator.open('/operator/queue/domains/ONE.example');
  assert.match(shown.html, /<h1>.*Mail for one\.example/);
  assert.match(shown.html, new RegExp(`queue/mail\\?domain=one\\.example&amp;tenant=${spool.tenantId}`));
  assert.match(shown.html, /<td><bdi[^>]*>[^<]*NXDOMAIN[^<]*<\/bdi><\/td><td class="number">1<\/td>/);
  assert.doesNotMatch(shown.html, /Actions in force/);
  await operator.open('/operator/queue/change?verb=hold&domain=one.example');
  await operator.submit('act', { reason: 'their disks are full' });
  const held = await operator.open('/operator/queue/domains/one.example');
  assert.match(held.html, /Actions in force for this mail.*their disks are full/s);
  const [, release = ''] = /href="([^"]*verb=release[^"]*)"/.exec(held.html) ?? [];
  await operator.open(release.replaceAll('&amp;', '&'));
  await operator.submit('act');
});

test('a trace begins with what waits for the site, which a domain names too, and a link shows it again', async () => {
  const { html } = await operator.open('/operator/queue/trace?site=One.Example');
  assert.match(html, /data-topic="\/operator\/trace\/one\.example"/);
  assert.match(html, /href="\/operator\/queue\/trace\?site=One\.Example">Refresh/);
  assert.match(html, /What waits for it.*domains\/one\.example/s);
  assert.doesNotMatch(html, /domains\/two\.example/);
  assert.doesNotMatch((await operator.open('/operator/queue/trace')).html, /data-topic/);
});

test('a tenant that does not exist is refused on the page, where it can be corrected', async () => {
  const { status, html } = await operator.open('/operator/queue/mail?tenant=nobody');
  assert.equal(status, 200);
  assert.match(html, /class="refused" role="alert"/);
});

test('the page of an email says why it waits and what was tried, and never shows its subject', async () => {
  const { html } = await operator.open(`/operator/queue/emails/${deferred}`);
  assert.match(html, /waiting for another attempt/);
  assert.match(html, /bad-domain/);
  for (const path of [`/operator/queue/emails/${deferred}`, '/operator/queue/mail', '/operator/queue'])
    assert.doesNotMatch((await operator.open(path)).html, new RegExp(SUBJECT));
});

test('an action counts first and changes nothing, and then does what was confirmed', async () => {
  const { html } = await operator.open('/operator/queue/change?verb=hold&domain=two.example');
  assert.match(html, /This reaches 1 recipient\./);
  const before = await operator.send('/operator/queue/mail?state=held', { method: 'GET' });
  assert.doesNotMatch(before.html, /bob@two\.example/);
  await operator.submit('act', { reason: 'looked at by Olga' });
  assert.equal(operator.page.url, '/operator/queue/actions?said=queueChanged');
  assert.match(operator.page.html, /looked at by Olga/);
  await spool.deliverDue();
  const after = await operator.send('/operator/queue/mail?state=held', { method: 'GET' });
  assert.match(after.html, new RegExp(ready));
  const [, hold] = /change\?([^"]*hold=qa_\w+)/.exec(operator.page.html) ?? [];
  await operator.open(`/operator/queue/change?${(hold ?? '').replaceAll('&amp;', '&')}`);
  await operator.submit('act');
  assert.match(operator.page.html, /<td>Release<\/td>/);
  assert.doesNotMatch(operator.page.html, /hold=qa_/);
});

test('an action without criteria is refused unless it says that it is about all mail', async () => {
  const { html } = await operator.open('/operator/queue/change?verb=fail');
  assert.match(html, /class="refused" role="alert"/);
  assert.doesNotMatch(html, /name="_action" value="act"/);
  assert.match((await operator.open('/operator/queue/change?verb=hold&all=on')).html, /This reaches/);
});

test('every action is in the audit log with the mail that it named', async () => {
  const { html } = await operator.open('/operator/audit');
  assert.match(html, /Changed mail in the queue/);
  assert.match(html, /two\.example/);
});

test('a tenant is created, gets an owner by a link, is suspended and resumed', async () => {
  await operator.open('/operator/tenants');
  await operator.submit('create', { name: 'acme <b>', plan: 'free' });
  const { url } = operator.page;
  assert.match(url, /^\/operator\/tenants\/ten_\w+\?said=created$/);
  assert.doesNotMatch(operator.page.html, /acme <b>/);
  await operator.submit('plan', { plan: 'unlimited' });
  await operator.submit('suspend');
  assert.match(operator.page.html, /status warning">suspended/);
  await operator.submit('resume');
  assert.match(operator.page.html, /status good">active/);
  await operator.submit('invite', { email: 'owner@acme.example' });
  const [, path] = /(\/link\/[\w-]{43})/.exec(operator.page.html) ?? [];
  const owner = await openBrowser(spool);
  await owner.open(path ?? '');
  await owner.submit('enter', { name: 'Olga', password: PASSWORD });
  await owner.submit('later');
  assert.match(owner.page.url, /^\/t\/acme/);
});

test('a tenant is deleted only when its name is entered, after the page has counted what it owns', async () => {
  await operator.open('/operator/tenants?name=acme');
  const [, id] = /\/operator\/tenants\/(ten_\w+)/.exec(operator.page.html) ?? [];
  await operator.open(`/operator/tenants/${id}/delete`);
  await operator.submit('delete', { name: 'acme' });
  assert.equal(operator.page.status, 422);
  assert.match(operator.page.html, /This is not the name of the tenant/);
  await operator.submit('delete', { name: 'acme <b>' });
  assert.match(operator.page.html, /is being deleted/);
});

test('a plan is created and changed, and a limit that is no number is refused beside the button', async () => {
  await operator.open('/operator/plans');
  await operator.submit('save', { name: 'small', monthlyEmails: '1000', requestsPerSecond: '' });
  assert.match(
    operator.page.html,
    /<td>small<\/td><td class="number">1,000<\/td><td class="number">no limit/,
  );
  assert.match(operator.page.html, /no limit<\/td><td class="number">1<\/td><td><a/);
  await operator.open('/operator/plans?name=small');
  await operator.submit('save', { weight: '5' });
  await operator.open('/operator/plans?name=small');
  await operator.submit('save');
  assert.match(
    operator.page.html,
    /no limit<\/td><td class="number">5<\/td><td><a/,
    'the form begins with it',
  );
  await operator.submit('save', { name: 'small', weight: 'much' });
  assert.match(operator.page.html, /class="refused" role="alert"/);
  await operator.open('/operator/plans');
  await operator.submit('save', { name: 'small', monthlyEmails: 'many' });
  assert.match(operator.page.html, /class="refused" role="alert"/);
});

test('the waiting mail and the tenants are read page by page', async () => {
  await spool.acceptMany(51, 'many.example');
  const first = await operator.open('/operator/queue/mail?domain=many.example');
  const [, next = ''] = /href="([^"]*after=[^"]*)" rel="next"/.exec(first.html) ?? [];
  const second = await operator.open(next.replaceAll('&amp;', '&'));
  assert.equal(second.html.match(/<td><a href="\/operator\/queue\/emails\//g)?.length, 1);
  assert.match(second.html, /First page/);
  for (let count = 0; count < 51; count++) {
    await spool.clock.advance(1);
    await spool.addTenant(`crowd ${count}`);
  }
  const tenants = await operator.open('/operator/tenants?name=CROWD');
  assert.equal(tenants.html.match(/>crowd \d+</g)?.length, 50);
  const [, older = ''] = /href="([^"]*startingAfter=[^"]*)" rel="next"/.exec(tenants.html) ?? [];
  assert.equal((await operator.open(older.replaceAll('&amp;', '&'))).html.match(/>crowd \d+</g)?.length, 1);
});

test('the form of a plan begins with the limits that it has', async () => {
  await operator.open('/operator/plans?name=free');
  await operator.submit('save');
  assert.equal(operator.page.status, 200);
  assert.match(operator.page.html, /<td class="number">3,000<\/td><td class="number">5<\/td>/);
});

test('what the operator does to an email stands in the log of its tenant', async () => {
  const id = await spool.accept('cid@three.example');
  await operator.open(`/operator/queue/change?verb=hold&email=${id}`);
  await operator.submit('act', { reason: 'looked at' });
  const rows = spool.app.db.read.selectFrom('auditEntries').select(['action', 'tenantId', 'details']);
  const about = (await rows.execute()).filter(({ details }) => details.includes(id));
  assert.deepEqual(
    about.map(({ action, tenantId }) => [action, tenantId]),
    about.map(() => ['operator/queue/change act', spool.tenantId]),
  );
  assert.equal(about.length, 1);
});

test('a site is suspended and resumed, each after its mail was counted', async () => {
  const sites = async () => operator.open('/operator/queue/sites');
  const { html } = await sites();
  assert.match(html, /dead end one\.example/);
  await operator.open('/operator/queue/change?verb=hold&site=dead+end+one.example');
  await operator.submit('act', { reason: 'their disks are full' });
  const suspended = await sites();
  assert.match(suspended.html, /suspended<\/span>.*their disks are full/s);
  const [, release = ''] = /href="([^"]*verb=release[^"]*)"/.exec(suspended.html) ?? [];
  await operator.open(release.replaceAll('&amp;', '&'));
  await operator.submit('act');
  assert.match((await sites()).html, /status good">not suspended<\/span>/);
  assert.doesNotMatch((await sites()).html, /status warning">/);
});

test('emails and broadcasts of all tenants are listed without their subjects', async () => {
  const { html } = await operator.open('/operator/emails?tenant=default&to=bob@two.example');
  assert.match(html, new RegExp(`/operator/queue/emails/${ready}`));
  assert.doesNotMatch(html, new RegExp(SUBJECT));
  assert.match((await operator.open('/operator/emails?to=bob@two.example')).html, /Enter the tenant too/);
  assert.match((await operator.open('/operator/emails?tenant=nobody')).html, /class="refused" role="alert"/);
  assert.equal((await operator.open('/operator/broadcasts?status=sending')).status, 200);
});

test('the delivery to an address is tested up to its result, and what is no address is refused', async () => {
  await operator.open('/operator/deliver-test');
  await operator.submit('test', { address: 'nobody' });
  assert.equal(operator.page.status, 422);
  await operator.submit('test', { address: 'ann@one.example' });
  assert.match(operator.page.html, /would not be delivered now.*NXDOMAIN/s);
});

test('an operator invites another one, who can be removed; the last one stays', async () => {
  await operator.open('/operator/people');
  await operator.submit('remove');
  assert.equal(operator.page.status, 422);
  assert.match(operator.page.html, /keeps its last operator/);
  await operator.submit('invite', { email: 'second@people.example' });
  const [, path] = /(\/link\/[\w-]{43})/.exec(operator.page.html) ?? [];
  const second = await openBrowser(spool);
  await second.open(path ?? '');
  await second.submit('enter', { name: 'Second', password: PASSWORD });
  await second.submit('later');
  await second.open('/operator/people');
  await second.submit('remove');
  assert.match(second.page.html, /Second/);
  assert.doesNotMatch(second.page.html, /ann1@people\.example<\/bdi><\/td>/);
  assert.match((await operator.open('/operator')).url, /^\/login/);
});
