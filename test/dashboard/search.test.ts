/** The search box: ids lead to their pages, and other texts find what they may mean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
import { approvingIn } from '../approvals/approving.ts';
import { addReceived } from '../inbound/fixtures.ts';
import { logIn } from '../support/browser.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openSpool } from '../support/spool.ts';

const closing = closeAfterTests();
const spool = closing(await openSpool());
const LIVE = '/t/default/live';
const TO = 'delivered+x@simulator.mx.postrider.example';

const browser = await logIn(spool);
const id = await spool.accept(TO, { subject: 'Found <b>me</b>', tags: { kind: 'welcome' } });
const search = (text: string) => browser.open(`${LIVE}/search?${new URLSearchParams({ q: text })}`);

test('an id and a Message-ID lead to the page of the email, with spaces around it too', async () => {
  for (const text of [id, ` ${id} `, `<${id}@sender.example>`, `${id}@sender.example`])
    assert.equal((await search(text)).url, `${LIVE}/emails/${id}`, text);
});

test('the id of another tenant, or of the other mode, finds nothing', async () => {
  const other = await spool.addTenant('other');
  const stranger = await logIn(spool, { tenantId: other.tenantId });
  for (const path of [`/t/other/live/search?q=${id}`, `/t/other/test/search?q=${id}`]) {
    const { url, html } = await stranger.open(path);
    assert.equal(url, path);
    assert.match(html, /Nothing was found for/);
  }
  assert.match((await browser.open(`/t/default/test/search?q=${id}`)).html, /Nothing was found for/);
});

test('an address finds the emails to and from it, and a tag those that have it', async () => {
  assert.match((await search(TO)).html, /Emails to this address.*Found &lt;b>me/s);
  assert.match((await search('ada@sender.example')).html, /Emails from there.*Found &lt;b>me/s);
  assert.match((await search('sender.example')).html, /Emails from there/);
  assert.match((await search('kind:welcome')).html, /Emails with this tag.*emails\?tag=kind%3Awelcome/s);
});

test('a page is found by a part of its name, and nothing is found without an error', async () => {
  assert.match((await search('AUDIT')).html, /<a href="\/t\/default\/live\/audit">Audit log<\/a>/);
  for (const text of ['kind:', '<script>', ':', '@', 'a@b@c', 'x'.repeat(3000), '%00', 'em_short']) {
    const { status, html } = await search(text);
    assert.equal(status, 200, text);
    assert.match(html, /Nothing was found for/, text);
    assert.doesNotMatch(html, /<script>(?!<)\W*<\/bdi>/);
  }
  assert.match((await browser.open(`${LIVE}/search`)).html, /You can look for an ID/);
});

test('a word finds the emails that have it in their subject, and the page says how far it has looked', async () => {
  const { html } = await search('FOUND');
  assert.match(html, /Emails with this in the subject.*Found &lt;b>me/s);
  assert.match(html, /The subjects of all emails of the last 7 days were searched\./);
  assert.doesNotMatch((await search('Fo')).html, /Emails with this in the subject/);
});

const post = async (path: string, body: object): Promise<string> => {
  const { status, body: made } = await spool.request('POST', path, { key: spool.liveKey, body });
  assert.ok(status < 300, JSON.stringify(made));
  return made.id;
};
/** Returns the addresses of the results, which stand behind what the page says about them. */
const hrefsIn = (html: string) =>
  [...(html.split('role="status"')[1] ?? '').matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href);

test('the id of a contact, an import, an export, an approval and a delivery leads to its page', async () => {
  const audience = await post('/v1/audiences', { name: 'Readers' });
  const contact = await post(`/v1/audiences/${audience}/contacts`, { email: 'ann@readers.example' });
  const uploaded = await spool.inject({
    method: 'POST',
    url: `/v1/audiences/${audience}/contacts/imports`,
    headers: { authorization: `Bearer ${spool.liveKey}`, 'content-type': 'text/csv' },
    payload: 'email\r\nbob@readers.example\r\n',
  });
  const exported = await post('/v1/suppressions/exports', {});
  const webhook = await post('/v1/webhooks', { url: 'https://hooks.example/', events: ['email.queued'] });
  const key = await approvingIn(spool).intern('broadcasts_and_emails');
  const waiting = await spool.accept(TO, { key });
  await spool.app.db.commit(fanOutEvents, { now: spool.clock.now(), limit: 100 });
  const newest = async (path: string): Promise<string> =>
    (await spool.request('GET', path, { key: spool.liveKey })).body.data[0].id;
  const pages = {
    [contact]: `/audiences/${audience}/contacts/${contact}`,
    [uploaded.json<{ id: string }>().id]: `/imports/${uploaded.json<{ id: string }>().id}`,
    [exported]: `/exports/${exported}`,
    [await newest('/v1/approvals')]: `/emails/${waiting}`,
  };
  const delivery = await newest(`/v1/webhooks/${webhook}/deliveries`);
  pages[delivery] = `/webhooks/${webhook}/deliveries/${delivery}`;
  for (const [one, page] of Object.entries(pages)) {
    const { status, url } = await search(one);
    assert.deepEqual([status, url], [200, LIVE + page], one);
    const missing = `${one.slice(0, -8)}00000000`;
    assert.match((await search(missing)).html, /Nothing was found for/, missing);
  }
  const other = await logIn(spool, { tenantId: (await spool.addTenant('elsewhere')).tenantId });
  for (const one of Object.keys(pages))
    assert.match((await other.open(`/t/elsewhere/live/search?q=${one}`)).html, /Nothing was found for/, one);
});

test('a domain, a contact, a suppression and a Message-ID of others are found, and the page says where contacts were looked for', async () => {
  const { html: ofDomain } = await search('sender.example');
  assert.match(hrefsIn(ofDomain).join(), /\/domains\/dom_\w+/);
  assert.doesNotMatch(ofDomain, /newest 20 audiences/);
  await post('/v1/suppressions', { email: 'ann@readers.example' });
  const { html: ofAddress } = await search('ann@readers.example');
  const [suppression, contact] = hrefsIn(ofAddress);
  assert.equal(suppression, `${LIVE}/suppressions?email=ann%40readers.example`);
  assert.match(contact ?? '', /\/audiences\/aud_\w+\/contacts\/ct_\w+$/);
  assert.match(ofAddress, /is suppressed.*contact in Readers/s);
  assert.match(ofAddress, /Contacts were looked for in the newest 20 audiences\./);
  const received = await addReceived(spool, {
    tenantId: spool.tenantId,
    row: { messageId: 'made.by@client.example' },
  });
  for (const text of ['<made.by@client.example>', 'made.by@client.example'])
    assert.equal((await search(text)).url, `${LIVE}/inbound/${received}`, text);
  assert.match((await search('<made.by@other.example>')).html, /Nothing was found for/);
});

test('the operator finds a tenant with the box that Ctrl+K opens', async () => {
  await spool.addTenant('searched-for');
  const operator = await logIn(spool, { tenantId: null, isOperator: true });
  const { html } = await operator.open('/operator/queue');
  assert.match(
    html,
    /<form method="get" action="\/operator\/tenants"><input type="search" id="search" name="name"/,
  );
  const found = await operator.open('/operator/tenants?name=searched-for');
  assert.match(found.html, /searched-for/);
  assert.doesNotMatch(found.html, /elsewhere/);
});
