/** The operator sees what keeps the mail of sites, lifts it, and has forgotten what sites have taught. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import type { Kept, KeptMail } from '../../src/queue/shaping/kept-mail.ts';
import { logIn } from '../support/browser.ts';
import { keptAt, siteAt, sitesWith } from '../support/dashboard/delivery.ts';
import { openTestApp } from '../support/test-app.ts';

const HOSTS = 'mx1.one.example,mx2.one.example';
let answer: KeptMail = { kept: [], total: 0, sites: [] };
let asked: unknown[] = [];
const testApp = await openTestApp({
  sites: sitesWith({
    listKept: async () => answer,
    explainSites: async ({ name }) => (name === HOSTS ? [siteAt(HOSTS, testApp.tenantId)] : []),
    async liftRests(request) {
      asked.push(request);
      return [{ kind: 'rest', site: HOSTS, until: null, reason: null }];
    },
    async forgetLearned(named) {
      asked.push(named);
      return [{ site: HOSTS, failures: 3 }];
    },
  }),
});
after(() => testApp.close());
const operator = await logIn(testApp, { isOperator: true, tenantId: null });
beforeEach(() => {
  asked = [];
  const kept = keptAt(HOSTS, testApp.tenantId);
  answer = { kept, total: kept.length, sites: [] };
});

const PATH = '/operator/queue/resting';

test('each entry is shown with what keeps the mail, until when and why, and text of strangers is escaped', async () => {
  const { html, status } = await operator.open(PATH);
  assert.equal(status, 200);
  assert.match(html, /href="\/operator\/queue\/site\?name=mx1\.one\.example%2Cmx2\.one\.example"/);
  assert.match(html, /<td>all sites of google<\/td><td>the back-off rule/);
  assert.match(html, /mail from the source main/);
  assert.match(html, /the back-off rule <code>slower<\/code> \(Recipients per minute: 60\)/);
  assert.match(html, /a rest after failures<\/td>/);
  assert.match(html, /connections that it has refused \(Connections: 3\)/);
  assert.match(html, new RegExp(`of the tenant <a href="/operator/tenants/${testApp.tenantId}">`));
  assert.match(html, /421 &lt;i>rate&lt;\/i> &lt;img src=x onerror=alert\(1\)>/);
  assert.doesNotMatch(html, /<i>rate|<img src=x/);
  assert.match(html, /aria-current="page">Resting sites/);
});

test('a rule is lifted at its place, a rest with everything there, and what was learned is forgotten', async () => {
  const restOf = async (cause: Kept['cause']) => {
    answer = { ...answer, kept: answer.kept.filter((one) => one.cause === cause).slice(0, 1) };
    await operator.open(PATH);
    answer = { ...answer, kept: keptAt(HOSTS, testApp.tenantId) };
  };
  await restOf('rule');
  assert.match((await operator.submit('lift')).html, /Lifted\. What waits is tried now\./);
  await restOf('failures');
  await operator.submit('lift');
  await restOf('learned');
  assert.match((await operator.submit('reset')).html, /Forgotten\. The site is served as a new one\./);
  const named = { siteOfDomain: undefined };
  assert.deepEqual(asked, [
    { ...named, name: 'provider google', restriction: 'slower - - provider google' },
    { ...named, name: HOSTS, restriction: null },
    { ...named, name: HOSTS },
  ]);
  const lines = await testApp.app.db.read
    .selectFrom('auditEntries')
    .select(['action', 'details'])
    .where('action', 'like', 'operator/queue/resting %')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    lines.map(({ action }) => action.split(' ')[1]),
    ['lift', 'lift', 'reset'],
  );
  assert.match(lines[0]?.details ?? '', /provider google.*slower/);
});

test('a long list has pages, says how many entries there are, and an empty one says so', async () => {
  const [one] = keptAt(HOSTS, testApp.tenantId);
  assert.ok(one);
  const many = Array.from({ length: 60 }, (_, index) => ({ ...one, place: `mx${index}.many.example` }));
  answer = { kept: many, total: 2_000, sites: [] };
  const first = await operator.open(PATH);
  assert.match(first.html, /50 of 2,000 are shown/);
  assert.match(first.html, /href="\/operator\/queue\/resting\?after=50" rel="next"/);
  assert.ok(first.html.length < 100_000, `${first.html.length} characters`);
  const second = await operator.open(`${PATH}?after=50`);
  assert.equal(second.html.match(/many\.example<\/bdi>/g)?.length, 10);
  answer = { kept: [], total: 0, sites: [] };
  assert.match((await operator.open(PATH)).html, /No site rests, and nothing slows one down\./);
});

test('the same in German, without English', async () => {
  const german = await logIn(testApp, { isOperator: true, tenantId: null });
  await german.open('/account');
  await german.submit('profile', { language: 'de' });
  const { html } = await german.open(PATH);
  assert.match(html, /<h1>.*Ruhende Ziele/);
  assert.match(html, /die Drosselregel <code>slower<\/code> \(Empfänger pro Minute: 60\)/);
  assert.doesNotMatch(html, /lang="en"/);
});
