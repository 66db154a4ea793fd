/** The pages of templates: the editor, previews that run nothing, versions, copies and tests. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Browser, formsOf, logIn } from '../../support/browser.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { textsIn } from '../shown.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

const TEMPLATES = '/t/default/test/templates';
const HTML = '<p>Hello {{firstName|friend}}, welcome to {{company}}</p><script>alert(1)</script>';

/** Creates a template with the form, and returns its id. */
async function createByForm(browser: Browser, name: string, html = HTML): Promise<string> {
  await browser.open(`${TEMPLATES}/new`);
  await browser.submit('save', { name, subject: 'Hi {{firstName|friend}}', html });
  const [, id = ''] = /\/templates\/(tpl_\w+)/.exec(browser.page.url) ?? [];
  assert.notEqual(id, '', browser.page.html);
  return id;
}

/** Presses a button of the editor that shows a preview, and returns the frame. */
function preview(browser: Browser, action: string, fields: Record<string, string> = {}) {
  const form = formsOf(browser.page.html).find(({ values }) => values.get('_action') === 'save');
  const body = new URLSearchParams(form?.values);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.append('_action', action);
  return browser.send(form?.target ?? '', { method: 'POST', body: String(body) });
}

test('nobody is asked for the links that each email gets when it is made', async () => {
  const owner = await logIn(testApp);
  const id = await createByForm(
    owner,
    'Links',
    '<p>{{company}}</p><a href="{{{unsubscribe_url}}}">Leave</a>',
  );
  await owner.open(`${TEMPLATES}/${id}`);
  assert.doesNotMatch(owner.page.html, /unsubscribe_url=/);
  assert.match(owner.page.html, />firstName=\ncompany=|>company=\nfirstName=/);
  assert.match(
    owner.page.html,
    /unsubscribe_url<\/code><\/td><td><span class="muted">a link that each email gets/,
  );
});

test('a template is created, shows its variables with their fallbacks, and is changed', async () => {
  const owner = await logIn(testApp);
  const id = await createByForm(owner, 'Welcome');
  assert.deepEqual(textsIn(owner.page.html, 'td').slice(0, 4), ['firstName', 'friend', 'company', 'none']);
  await owner.submit('save', { name: 'Welcome 2', text: '\r\nLine 1\r\nLine 2' });
  // What is shown is saved again as it is.
  await owner.submit('save');
  const { body } = await testApp.request('GET', `/v1/templates/${id}`);
  assert.deepEqual([body.name, body.html, body.text], ['Welcome 2', HTML, '\nLine 1\nLine 2']);
  await owner.open(`${TEMPLATES}?name=Welcome+2`);
  assert.match(owner.page.html, new RegExp(id));
});

test('the preview shows what is entered, not what is saved, in a frame that runs and loads nothing', async () => {
  const owner = await logIn(testApp);
  const id = await createByForm(owner, 'Previewed');
  const html = await preview(owner, 'previewHtml', {
    html: `${HTML}<b>new</b>`,
    values: 'firstName=<i>Ada</i>\r\ncompany=\r\nnot a line',
  });
  assert.equal(html.status, 200);
  assert.equal(
    html.html,
    '<p>Hello &lt;i&gt;Ada&lt;/i&gt;, welcome to </p><script>alert(1)</script><b>new</b>',
  );
  assert.match(String(html.headers['content-security-policy']), /^sandbox; default-src 'none'/);
  const text = await preview(owner, 'previewText', { subject: '<s>{{firstName}}</s>' });
  assert.deepEqual(textsIn(text.html, 'h1'), ['<s></s>']);
  assert.deepEqual(textsIn(text.html, 'strong'), ['firstName, company']);
  assert.match(String(text.headers['content-security-policy']), /^sandbox; /);
  const { body } = await testApp.request('GET', `/v1/templates/${id}`);
  assert.equal(body.html, HTML);
  assert.match(
    owner.page.html,
    new RegExp(`<iframe[^>]*sandbox(?:="")?[^>]*src="${TEMPLATES}/${id}/preview"`),
  );
  const saved = await owner.send(`${TEMPLATES}/${id}/preview`, { method: 'GET' });
  assert.match(saved.html, /^<p>Hello friend, welcome to <\/p>/);
  assert.match(String(saved.headers['content-security-policy']), /^sandbox; /);
});

test('a preview of what no template may have gives the reason in its frame', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${TEMPLATES}/new`);
  const refused = await preview(owner, 'previewHtml', { html: '<p>{{> partial}}</p>' });
  assert.equal(refused.status, 200);
  assert.match(
    refused.html,
    /tags that are not known: {{> partial}}|tags that are not known: {{&gt; partial}}/,
  );
  assert.match(String(refused.headers['content-security-policy']), /^sandbox; /);
});

test('previews with the same form show each content, and the form still saves afterwards', async () => {
  const owner = await logIn(testApp);
  await createByForm(owner, 'Repeated');
  const first = await preview(owner, 'previewHtml', { html: '<p>one</p>' });
  const second = await preview(owner, 'previewHtml', { html: '<p>two</p>' });
  assert.deepEqual([first.html, second.html], ['<p>one</p>', '<p>two</p>']);
  await owner.submit('save', { html: '<p>three</p>' });
  assert.match(owner.page.url, /said=saved/);
});

test('a refused template keeps what was entered', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${TEMPLATES}/new`);
  const refused = await owner.submit('save', { name: 'Kept', html: '<p>{{> partial}}</p>' });
  assert.equal(refused.status, 422);
  const form = formsOf(refused.html).find(({ values }) => values.get('_action') === 'save');
  assert.deepEqual([form?.values.get('name'), form?.values.get('html')], ['Kept', '<p>{{> partial}}</p>']);
});

test('a template is duplicated and deleted', async () => {
  const owner = await logIn(testApp);
  const id = await createByForm(owner, 'n'.repeat(200));
  await owner.submit('duplicate');
  const [, copy = ''] = /\/templates\/(tpl_\w+)/.exec(owner.page.url) ?? [];
  assert.notEqual(copy, id);
  const { body } = await testApp.request('GET', `/v1/templates/${copy}`);
  assert.deepEqual([body.name, body.html], [`Copy of ${'n'.repeat(192)}`, HTML]);
  await owner.submit('delete');
  assert.equal((await testApp.request('GET', `/v1/templates/${copy}`)).status, 404);
  assert.equal((await testApp.request('GET', `/v1/templates/${id}`)).status, 200);
});

test('a test is an email of the saved template with the values of the form', async () => {
  const owner = await logIn(testApp);
  await createByForm(owner, 'Tested', '<p>Hello {{firstName|friend}} of {{company}}</p>');
  await owner.submit('test', { values: 'company=Shop' });
  const [, emailId = ''] = /\/emails\/(em_\w+)/.exec(owner.page.url) ?? [];
  const { body } = await testApp.request('GET', `/v1/emails/${emailId}`);
  assert.deepEqual(
    [body.subject, body.from, body.to],
    ['Hi friend', 'hello@sandbox.mx.postrider.example', ['delivered@simulator.mx.postrider.example']],
  );
  assert.match(body.html, /Hello friend of Shop/);
});

test('a former version is shown with its author, and restored', async () => {
  const owner = await logIn(testApp, { email: 'editor@people.example' });
  const id = await createByForm(owner, 'Versioned', '<p>first</p>');
  await clock.advance(1);
  await owner.submit('save', { html: '<p>second</p>' });
  await clock.advance(1);
  await testApp.request('PATCH', `/v1/templates/${id}`, { body: { html: '<p>third</p>' } });
  await owner.open(`${TEMPLATES}/${id}/versions`);
  const authors = textsIn(owner.page.html, 'td').filter((_, index) => index % 3 === 2);
  assert.deepEqual(authors, ['API key', 'Ann of editor@people.example', 'Ann of editor@people.example']);
  const [, , first = ''] = [...owner.page.html.matchAll(/href="([^"]*\/versions\/tpv_\w+)"/g)].map(
    ([, href]) => href,
  );
  await owner.open(first);
  assert.equal(textsIn(owner.page.html, 'pre')[0]?.trim(), '<p>first</p>');
  const frame = await owner.send(`${first}/preview`, { method: 'GET' });
  assert.equal(frame.html, '<p>first</p>');
  assert.match(String(frame.headers['content-security-policy']), /^sandbox; /);
  await owner.submit('restore');
  const { body } = await testApp.request('GET', `/v1/templates/${id}`);
  assert.equal(body.html, '<p>first</p>');
});

test('a viewer sees a template and its preview, and no form', async () => {
  const id = await createByForm(await logIn(testApp), 'Viewed');
  const viewer = await logIn(testApp, { role: 'viewer' });
  await viewer.open(`${TEMPLATES}/${id}`);
  assert.match(viewer.page.html, /<iframe[^>]*sandbox(?:="")?/);
  for (const action of ['save', 'delete', 'duplicate', 'test'])
    assert.ok(!viewer.page.html.includes(`value="${action}"`), action);
});
