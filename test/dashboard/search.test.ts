/** The search box: ids lead to their pages, and other texts find what they may mean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
