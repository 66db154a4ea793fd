/** The first page of a tenant: its numbers, what needs attention, and the search. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { MAX_WEBHOOKS } from '../../src/dashboard/sending/overview/attention.tsx';
import { metricsQueryOf, startsOf } from '../../src/dashboard/sending/overview/period.ts';
import {
  BOUNCE_LINE,
  bounceStanding,
  complaintStanding,
} from '../../src/dashboard/sending/overview/rates.ts';
import { MAX_ENDPOINTS } from '../../src/webhooks/store.ts';
import { logIn } from '../support/browser.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openSpool } from '../support/spool.ts';

const closing = closeAfterTests();
const spool = closing(await openSpool());
const LIVE = '/t/default/live';

/** Leaves a webhook as a post leaves it that has failed. */
function failWebhook(id: string): void {
  const database = new Sqlite(join(spool.dataDir, 'postrider.db'));
  database.prepare('UPDATE webhookEndpoints SET failingSince = ? WHERE id = ?').run(spool.clock.now(), id);
  database.close();
}

const simulated = (name: string) => `${name}@simulator.mx.postrider.example`;

test('the overview counts what became of mail in the period of its address', async () => {
  for (const name of ['delivered', 'delivered', 'bounced']) await spool.accept(simulated(name));
  await spool.deliverDue();
  await spool.clock.advance(60_000);
  const browser = await logIn(spool);
  const { html } = await browser.open(`${LIVE}?period=24h`);
  assert.match(html, /Accepted<strong>3<\/strong>/);
  assert.match(html, /Delivered<strong>2<\/strong><small>66\.67%/);
  assert.match(html, /class="chart" data-chart="numbers"/);
  assert.match(html, /<table id="numbers">/);
  assert.match(html, /\/assets\/[0-9a-f]+\/chart\.js/);
  assert.doesNotMatch((await browser.open(`${LIVE}/emails`)).html, /chart\.js/);
});

test('a tenant that has sent nothing sees its first steps instead of empty charts', async () => {
  const tenant = await spool.addTenant('beginner');
  const owner = await logIn(spool, { tenantId: tenant.tenantId });
  const { html } = await owner.open('/t/beginner/live');
  assert.match(html, /First steps/);
  for (const path of ['domains/new', 'keys/new', 'send-test', 'webhooks/new'])
    assert.match(html, new RegExp(`<a href="/t/beginner/live/${path}"`));
  assert.match(html, /Create an API key<\/a> <span class="status good">done/);
  assert.doesNotMatch(html, /data-chart|chart\.js/);
  assert.doesNotMatch((await owner.open('/t/beginner/test')).html, /test\/domains\/new"/);
  const viewer = await logIn(spool, { tenantId: tenant.tenantId, role: 'viewer' });
  assert.doesNotMatch((await viewer.open('/t/beginner/live')).html, /keys\/new/);
});

test('the mode is said in words, and a link leads to the same page of the other one', async () => {
  const browser = await logIn(spool);
  const { html: live } = await browser.open(`${LIVE}/emails`);
  assert.match(live, /Live mode: mail is delivered/);
  assert.match(live, /<a href="\/t\/default\/test\/emails">Switch to test mode<\/a>/);
  const { html: test } = await browser.open('/t/default/test/emails');
  assert.match(test, /<header class="top test">/);
  assert.match(test, /Test mode: nothing is delivered/);
});

test('a domain without records, a webhook that was switched off and a used quota need attention', async () => {
  const tenant = await spool.addTenant('careless');
  const browser = await logIn(spool, { tenantId: tenant.tenantId });
  assert.match((await browser.open('/t/careless/live')).html, /Nothing needs attention/);
  const { liveKey: key } = tenant;
  await spool.request('POST', '/v1/domains', { key, body: { name: 'bare.example' } });
  const hook = { url: 'https://hooks.example/a', events: ['email.delivered'] };
  const { body } = await spool.request('POST', '/v1/webhooks', { key, body: hook });
  failWebhook(body.id);
  const { html } = await browser.open('/t/careless/live');
  assert.match(html, /bare\.example<\/bdi><\/a>: its DNS records were not found yet/);
  assert.match(html, /hooks\.example\/a<\/bdi><\/a>: its posts fail/);
});

test('what waits is counted by the state of its recipients, with the oldest', async () => {
  const tenant = await spool.addTenant('waiting');
  const browser = await logIn(spool, { tenantId: tenant.tenantId });
  const { liveKey: key } = tenant;
  const scheduledAt = new Date(spool.clock.now() + 3_600_000).toISOString();
  const send = async (subject: string) => {
    const from = 'a@sandbox.mx.postrider.example';
    const body = { from, to: simulated('delivered'), subject, text: 'x', type: 'transactional', scheduledAt };
    const { status, body: answer } = await spool.request('POST', '/v1/emails', { key, body });
    assert.equal(status, 200, JSON.stringify(answer));
    return answer;
  };
  const oldest = new Date(spool.clock.now()).toISOString();
  await send('first');
  await spool.clock.advance(120_000);
  await send('second');
  const { html } = await browser.open('/t/waiting/live');
  const [, table = ''] = /id="waiting"([\s\S]*?)<\/section><\/section>/.exec(html) ?? [];
  assert.match(table, /queued[\s\S]*recipientStatus=queued">2<\/a>/);
  assert.ok(table.includes(`dateTime="${oldest}"`) || table.includes(`datetime="${oldest}"`), table);
  assert.doesNotMatch(table, /recipientStatus=(?:deferred|held)/);
});

test('every webhook that a tenant can have is asked whether it fails', () => {
  assert.ok(MAX_ENDPOINTS <= MAX_WEBHOOKS);
});

test('rates have lines, which a few recipients cannot cross', () => {
  const totals = (accepted: number, bounced: number, complained: number) => ({
    accepted,
    delivered: accepted,
    rates: { bounced, complained },
  });
  assert.equal(bounceStanding(totals(1_000, BOUNCE_LINE, 0)), 'bad');
  assert.equal(bounceStanding(totals(1_000, 0.039, 0)), 'good');
  assert.equal(bounceStanding(totals(99, 1, 0)), 'good');
  assert.equal(complaintStanding(totals(1_000, 0, 0.0009)), 'good');
  assert.equal(complaintStanding(totals(1_000, 0, 0.001)), 'warning');
  assert.equal(complaintStanding(totals(1_000, 0, 0.003)), 'bad');
});

test('today begins at midnight of the person, and every hour or day of a period has a row', () => {
  const now = Date.parse('2026-03-01T01:30:00.500Z');
  const from = (timeZone: string) => metricsQueryOf('today', { now, timeZone })['from'];
  assert.equal(from('UTC'), '2026-03-01T00:00:00.000Z');
  assert.equal(from('America/New_York'), '2026-02-28T05:00:00.000Z');
  assert.equal(from('Asia/Kolkata'), '2026-02-28T18:30:00.000Z');
  const day = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' };
  assert.equal(startsOf({ ...day, interval: 'hour' }).length, 24);
  assert.deepEqual(startsOf({ ...day, interval: 'day' }), [day.from]);
});
