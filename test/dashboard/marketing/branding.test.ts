/** The branding in the dashboard: set by its form, refused with a reason, previewed in a frame, and removed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { png } from '../../branding/images.ts';
import { type Browser, formsOf, logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const PAGE = '/t/default/test/branding';

const branding = async () => (await testApp.request('GET', '/v1/branding')).body;

/** Sends the form with another button than its own, and returns the frame. */
function preview(browser: Browser, fields: Record<string, string>, query = '') {
  const form = formsOf(browser.page.html).find(({ values }) => values.get('_action') === 'save');
  const body = new URLSearchParams(form?.values);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.append('_action', 'preview');
  return browser.send(`${PAGE}${query}`, { method: 'POST', body: String(body) });
}

test('name, colours and logo are set with the form, shown with their contrast, changed in parts and removed', async () => {
  const browser = await logIn(testApp);
  await browser.open(PAGE);
  assert.match(browser.page.html, /Nothing is set yet/);
  const file = { field: 'logo', name: 'logo.png', content: Buffer.from(png(960, 320)) };
  await browser.upload('save', file, { name: 'Corner <b> Shop', color: '#1F5FBF' });
  assert.equal(browser.page.url, `${PAGE}?said=saved`, browser.page.html);
  assert.match(browser.page.html, /Corner &lt;b> Shop/);
  assert.match(browser.page.html, /480 × 160 pixels/);
  assert.match(browser.page.html, /<rect[^>]* fill="#1f5fbf"/);
  assert.match(browser.page.html, /contrast 6\.09 to 1/);

  await browser.submit('save', { darkColor: '#8ab4f8', darkTextColor: '#000000' });
  assert.match(browser.page.html, /contrast 9\.96 to 1/);
  const kept = await branding();
  assert.deepEqual([kept.name, kept.logo?.width], ['Corner <b> Shop', 480], 'the logo stays without a file');
  await browser.submit('save', { removeLogo: 'on', name: '' });
  const left = await branding();
  assert.deepEqual([left.name, left.logo, left.color], [null, null, '#1f5fbf']);
  assert.doesNotMatch(browser.page.html, /removeLogo/);

  await browser.submit('remove');
  assert.match(browser.page.html, /Deleted\.[\s\S]*Nothing is set yet/);
  assert.equal((await branding()).updatedAt, null);
  await browser.open('/t/default/test/audit');
  assert.match(browser.page.html, /Changed the branding/);
  assert.match(browser.page.html, /Removed the branding/);
});

test('a refusal names the field of the form, keeps what was entered, and stores nothing', async () => {
  const browser = await logIn(testApp);
  await browser.open(PAGE);
  await browser.submit('save', { name: 'Shop', color: '#ffcc00' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /role="alert"[^>]*>“Colour” makes text hard to read[^<]* is 1\.51/);
  assert.match(
    browser.page.html,
    /<input(?=[^>]*name="color")(?=[^>]*aria-invalid="true")(?=[^>]*value="#ffcc00")/,
  );
  assert.match(browser.page.html, /name="name"[^>]*value="Shop"|value="Shop"[^>]*name="name"/);
  for (const [content, reason] of [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'), /“Logo” must be a PNG, JPEG, GIF/],
    [Buffer.alloc(1024 * 1024 + 1), /“Logo” must be at most 1 MiB/],
  ] as const) {
    await browser.open(PAGE);
    await browser.upload('save', { field: 'logo', name: 'logo', content });
    assert.deepEqual([browser.page.status, reason.test(browser.page.html)], [422, true], browser.page.html);
  }
  assert.equal((await branding()).updatedAt, null);
});

test('the frame shows each public page as it is, and as what is entered would make it, and loads nothing', async () => {
  const browser = await logIn(testApp);
  await testApp.request('POST', '/v1/topics', { body: { name: 'News <i>', defaultOptIn: true } });
  await testApp.request('PUT', '/v1/branding', {
    body: { name: 'Now', logo: png(20, 10).toString('base64') },
  });
  const { html: page } = await browser.open(`${PAGE}?page=preferences`);
  assert.match(
    page,
    /<iframe[^>]* sandbox(?:="")?[^>]* src="\/t\/default\/test\/branding\/preview\?page=preferences"/,
  );
  const frame = async (name: string) => browser.send(`${PAGE}/preview?page=${name}`, { method: 'GET' });
  const { html, headers } = await frame('preferences');
  assert.match(html, /<strong dir="auto">Now<\/strong>/);
  assert.match(html, /<img src="data:image\/png;base64,[\w+/=]+"/);
  assert.match(html, /News &lt;i>/);
  assert.match(html, /<style>:root/);
  assert.doesNotMatch(html, /<link|href="\/|src="\//);
  assert.match(String(headers['content-security-policy']), /^sandbox; default-src 'none'/);
  assert.match((await frame('unsubscribe')).html, /Do you want to stop receiving mail about/);
  assert.match((await frame('confirmation')).html, /r•••@example\.com/);
  assert.match((await frame('nothing')).html, /Do you want to stop/);

  const changed = await preview(browser, { name: 'Then', color: '#1f5fbf' }, '?page=preferences');
  assert.match(changed.html, /Then<\/strong>[\s\S]*News/);
  assert.match(changed.html, /--brand: #1f5fbf; --on-brand: #ffffff;/);
  const refused = await preview(browser, { color: '#ffcc00' });
  assert.match(refused.html, /“Colour” makes text hard to read/);
  const { name, color } = await branding();
  assert.deepEqual([name, color], ['Now', null], 'a preview stores nothing');
});

test('viewers see the branding and its preview, without a form', async () => {
  const viewer = await logIn(testApp, { role: 'viewer' });
  const { html } = await viewer.open(PAGE);
  assert.match(html, /<bdi[^>]*>Now</);
  assert.deepEqual(
    formsOf(html).filter(({ target }) => target.startsWith(PAGE)),
    [],
  );
  assert.equal((await viewer.send(`${PAGE}/preview`, { method: 'GET' })).status, 200);
});

test('the page is there in German', async () => {
  const browser = await logIn(testApp);
  await browser.open('/account');
  await browser.submit('profile', { language: 'de' });
  const { html } = await browser.open(PAGE);
  assert.match(html, /<h1><bdi[^>]*>Erscheinungsbild/);
  assert.match(
    (await browser.send(`${PAGE}/preview`, { method: 'GET' })).html,
    /<html lang="de">[\s\S]*Möchten Sie/,
  );
});
