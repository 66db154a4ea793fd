/** The pages of emails: what became of one and why, its content without danger, canceling, sending again, and sending a test. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RESENT_BYTES } from '../../src/dashboard/sending/emails/resend.ts';
import { openRoutedSpool } from '../queue/routed-spool.ts';
import { type Browser, logIn } from '../support/browser.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { startCommandServer } from '../support/command-server.ts';
import type { Hosts } from '../support/loopback.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
const server = closing(
  await startCommandServer((line) => {
    if (line.startsWith('EHLO')) return '250 mx.one.example';
    if (line.startsWith('RCPT TO:<gone')) return '550 5.1.1 <b>No such user</b> here';
    if (line.startsWith('RCPT')) return '451 4.7.1 Try again later';
    return '250 ok';
  }),
);
hosts['192.0.2.1'] = server.port;
spool.addZone('one.example MX 10 mx.one.example\nmx.one.example A 192.0.2.1');

const LIVE = '/t/default/live';

async function openEmail(browser: Browser, id: string, rest = ''): Promise<string> {
  const { status, html } = await browser.open(`${LIVE}/emails/${id}${rest}`);
  assert.equal(status, 200, html);
  return html;
}

test('a bounced email shows the reply, what it means and what to do, and its SMTP session', async () => {
  const browser = await logIn(spool);
  const id = await spool.accept('gone@one.example', { tags: { kind: 'a & b' } });
  await spool.deliverDue();
  const html = await openEmail(browser, id);
  assert.match(html, /550 5\.1\.1 &lt;b>No such user&lt;\/b> here/);
  assert.match(html, /The mailbox does not exist/);
  assert.match(html, /Remove the address from your lists/);
  assert.match(html, /emails\?tag=kind%3Aa\+%26\+b/);
  assert.doesNotMatch(html, /Cancel the email/);
  const attempts = await openEmail(browser, id, '/attempts');
  assert.match(attempts, /> RCPT TO:&lt;gone@one\.example>|&gt; RCPT TO/);
  assert.match(attempts, /&lt; 550 5\.1\.1|550 5\.1\.1/);
});

test('an email that the simulator took, or that nobody has taken yet, does not name a server', async () => {
  const browser = await logIn(spool);
  const id = await spool.accept('delivered@simulator.mx.postrider.example');
  assert.match(await openEmail(browser, id), /<td><span class="muted">none yet<\/span><\/td>/);
  await spool.deliverDue();
  assert.match(await openEmail(browser, id), /<td>the simulator<\/td>/);
  const attempts = await openEmail(browser, id, '/attempts');
  assert.match(attempts, /<td>the simulator<\/td>/);
  assert.doesNotMatch(attempts, /no TLS/);
});

test('an email that waits says until when, and is canceled with the form', async () => {
  const browser = await logIn(spool);
  const id = await spool.accept('later@one.example');
  await spool.deliverDue();
  assert.match(await openEmail(browser, id), /Waits\. Next attempt: <time/);
  await browser.submit('cancel');
  assert.match(browser.page.html, /The recipients that waited are canceled/);
  assert.equal((await spool.email(id)).status, 'canceled');
  const viewer = await logIn(spool, { role: 'viewer' });
  assert.doesNotMatch(await openEmail(viewer, id), /name="_action" value="resend"/);
});

test('a scheduled email is moved on its page, in the zone of the person, until its time has come', async () => {
  const browser = await logIn(spool);
  await browser.open('/account');
  await browser.submit('profile', { timeZone: 'America/New_York' });
  const day = 24 * 3_600_000;
  const asked = new Date(spool.clock.now() + day).toISOString();
  const id = await spool.accept('later@one.example', { scheduledAt: asked });
  assert.match(await openEmail(browser, id), /New time \(America\/New_York\)/);
  const field = /<input(?=[^>]*name="scheduledAt")[^>]*value="([^"]+)"/.exec(browser.page.html)?.[1] ?? '';
  await browser.submit('reschedule', { scheduledAt: 'tomorrow' });
  assert.equal(browser.page.status, 422);
  assert.match(
    browser.page.html,
    /<details open[^>]*>[\s\S]*“New time \(America\/New_York\)” must be an ISO 8601/,
  );
  const later = new Date(Date.parse(`${field}Z`) + day).toISOString().slice(0, 16);
  await browser.submit('reschedule', { scheduledAt: later });
  assert.match(browser.page.html, /The email has another time/);
  const moved = Date.parse((await spool.email(id)).scheduledAt) - Date.parse(asked);
  assert.ok(Math.abs(moved - day) < 60_000 + 3_600_000, `moved by ${moved}`);
  const viewer = await logIn(spool, { role: 'viewer' });
  assert.doesNotMatch(await openEmail(viewer, id), /name="_action" value="reschedule"/);
  await browser.submit('cancel');
  assert.doesNotMatch(browser.page.html, /value="reschedule"/);
});

test('emails are found by the state of a recipient, by their key and by days, and a filter that is refused says why', async () => {
  const browser = await logIn(spool);
  const id = await spool.accept('later@one.example', { subject: 'Found by its day' });
  const day = new Date(spool.clock.now()).toISOString().slice(0, 10);
  const isListed = async (query: string) => (await browser.open(`${LIVE}/emails?${query}`)).html.includes(id);
  assert.equal(await isListed('recipientStatus=queued'), true);
  assert.equal(await isListed('recipientStatus=bounced'), false);
  assert.equal(await isListed(`since=${day}&until=${day}`), true);
  assert.equal(await isListed('until=2001-01-01'), false);
  assert.equal(await isListed('since=2999-01-01'), false);
  const [, key = ''] = /href="[^"]*\/keys\/(key_\w+)"/.exec(await openEmail(browser, id)) ?? [];
  assert.equal(await isListed(`apiKeyId=${key}`), true);
  assert.match(browser.page.html, new RegExp(`<option value="${key}" selected`));
  assert.equal(await isListed('apiKeyId=key_other'), false);
  const { status, html } = await browser.open(`${LIVE}/emails?tag=nothing`);
  assert.equal(status, 200);
  assert.match(html, /role="alert"[^>]*>“Tag/);
});

test('the HTML of an email is shown in a frame that runs and loads nothing, and its parts are text', async () => {
  const browser = await logIn(spool);
  const evil = '<h1>Hi</h1><script>alert(1)</script><img src="https://evil.example/x.png">';
  const id = await spool.accept('gone2@one.example', { html: evil, subject: '<script>alert(2)</script>' });
  const html = await openEmail(browser, id);
  assert.match(html, new RegExp(`<iframe sandbox class="preview"[^>]* src="${LIVE}/emails/${id}/preview"`));
  assert.doesNotMatch(html, /<script>alert/);
  assert.doesNotMatch(await openEmail(browser, id, '?part=html'), /<script>alert/);
  const frame = await browser.open(`${LIVE}/emails/${id}/preview`);
  assert.match(frame.html, /<script>alert\(1\)<\/script>/);
  const policy = String(frame.headers['content-security-policy']);
  assert.match(policy, /^sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:/);
  assert.doesNotMatch(policy, /script-src/);
});

test('an email without HTML has no preview', async () => {
  const browser = await logIn(spool);
  const id = await spool.accept('gone3@one.example');
  assert.match(await openEmail(browser, id), /<pre [^>]*>Hello<\/pre>/);
  assert.equal((await browser.open(`${LIVE}/emails/${id}/preview`)).status, 404);
});

test('sending again makes a new email with the same content, and the same form sends once', async () => {
  const browser = await logIn(spool);
  const sent = {
    html: '<p>Hi</p>',
    text: 'Hi',
    tags: { kind: 'x' },
    cc: 'cid@one.example',
    replyTo: 'me@one.example',
  };
  const id = await spool.accept('later@one.example', sent);
  await openEmail(browser, id);
  await browser.submit('resend');
  assert.match(browser.page.html, /this is the new email/);
  const [, again = ''] = /emails\/(em_\w+)\?/.exec(browser.page.url) ?? [];
  assert.notEqual(again, id);
  const [one, other] = [await spool.email(id), await spool.email(again)];
  for (const field of ['from', 'to', 'cc', 'replyTo', 'subject', 'html', 'text', 'tags'])
    assert.deepEqual(other[field], one[field], field);
});

test('an email whose attachments are more than a page holds cannot be sent again from the page', async () => {
  const browser = await logIn(spool);
  const content = Buffer.alloc(MAX_RESENT_BYTES + 1, 'x').toString('base64');
  const id = await spool.accept('later@one.example', { attachments: [{ filename: 'a.bin', content }] });
  assert.doesNotMatch(await openEmail(browser, id), /value="resend"/);
  const { status } = await browser.send(`${LIVE}/emails/${id}`, { method: 'POST', body: '_action=resend' });
  assert.equal(status, 422);
});

test('a test is sent from the form, and a refusal keeps what was entered', async () => {
  const browser = await logIn(spool);
  await browser.open(`${LIVE}/send-test`);
  await browser.submit('send', { from: 'ada@foreign.example', subject: 'Kept' });
  assert.match(browser.page.html, /foreign\.example is not one of yours/);
  assert.match(browser.page.html, /value="Kept"/);
  await browser.submit('send', { from: 'ada@sender.example', to: 'gone4@one.example, later@one.example' });
  assert.match(browser.page.html, /Accepted\. Reload/);
  const [, id = ''] = /emails\/(em_\w+)\?/.exec(browser.page.url) ?? [];
  const email = await spool.email(id);
  assert.deepEqual([email.subject, email.to], ['Kept', ['gone4@one.example', 'later@one.example']]);
});

test('a test is made from a template with the variables of the form', async () => {
  const browser = await logIn(spool);
  const template = { name: 'Hello', subject: 'x', html: '<p>Dear {{name}}</p>' };
  const { body } = await spool.request('POST', '/v1/templates', { key: spool.liveKey, body: template });
  await browser.open(`${LIVE}/send-test?template=${body.id}`);
  await browser.submit('send', { from: 'ada@sender.example', to: 'later@one.example', variables: 'name' });
  assert.match(browser.page.html, /each line must have the form name=value/);
  await browser.submit('send', { variables: 'name = Ada=Bob' });
  const [, id = ''] = /emails\/(em_\w+)\?/.exec(browser.page.url) ?? [];
  const email = await spool.email(id);
  assert.deepEqual([email.templateId, email.html], [body.id, '<p>Dear Ada=Bob</p>']);
});

test('the pages of an email of another tenant, or of the other mode, are those of none', async () => {
  const other = await spool.addTenant('other');
  const browser = await logIn(spool, { tenantId: other.tenantId });
  const own = await logIn(spool);
  const id = await spool.accept('later@one.example');
  for (const rest of ['', '/attempts', '/preview']) {
    assert.equal((await browser.open(`/t/other/live/emails/${id}${rest}`)).status, 404);
    assert.equal((await own.open(`/t/default/test/emails/${id}${rest}`)).status, 404);
  }
});

test('the message is downloaded as it is sent, and a check names what is wrong with its links', async () => {
  const browser = await logIn(spool);
  const html = '<p>Hi <a href="http://evil.example/x">here</a></p>';
  const id = await spool.accept('later@one.example', { html });
  const raw = await browser.open(`${LIVE}/emails/${id}/raw`);
  assert.match(String(raw.headers['content-disposition']), new RegExp(`attachment; filename.*${id}\\.eml`));
  assert.match(raw.html, /^DKIM-Signature: .*^Subject: Hi\r$/ms);
  const check = await openEmail(browser, id, '/check');
  assert.match(check, /Findings.*http:\/\/evil\.example\/x/s);
  assert.doesNotMatch(check, /href="http:\/\/evil/);
  assert.match(check, /Subject: Hi/);
});

test('files are downloaded one by one and never shown, images stand in the preview, and all of them are sent again', async () => {
  const browser = await logIn(spool);
  const content = (text: string) => Buffer.from(text).toString('base64');
  const id = await spool.accept('later@one.example', {
    html: '<p><img src="cid:logo"><img src="cid:page"></p>',
    attachments: [
      { filename: 'report <b>.txt', content: content('a report') },
      { filename: 'logo.png', contentType: 'image/png', contentId: 'logo', content: content('a logo') },
      { filename: 'page.svg', contentType: 'image/svg+xml', contentId: 'page', content: content('<svg/>') },
    ],
  });
  const html = await openEmail(browser, id);
  assert.match(html, new RegExp(`emails/${id}/files/1" download[^>]*><bdi[^>]*>report &lt;b>`));
  const file = await browser.send(`${LIVE}/emails/${id}/files/1`, { method: 'GET' });
  assert.equal(file.html, 'a report');
  assert.match(
    String(file.headers['content-disposition']),
    /^attachment; filename\*=UTF-8''report%20%3Cb%3E\.txt$/,
  );
  assert.equal(file.headers['x-content-type-options'], 'nosniff');
  assert.match(String(file.headers['content-security-policy']), /^sandbox; default-src 'none'/);
  assert.equal((await browser.send(`${LIVE}/emails/${id}/files/4`, { method: 'GET' })).status, 404);
  const preview = await browser.send(`${LIVE}/emails/${id}/preview`, { method: 'GET' });
  assert.ok(preview.html.includes(`<img src="data:image/png;base64,${content('a logo')}">`), preview.html);
  // An SVG may contain scripts, and stays a name that nothing answers to.
  assert.match(preview.html, /src="cid:page"/);
  await openEmail(browser, id);
  await browser.submit('resend');
  assert.match(browser.page.html, /Sent again/);
  const [, again = ''] = /emails\/(em_\w+)/.exec(browser.page.url) ?? [];
  assert.notEqual(again, id);
  for (const [number, text] of [
    [1, 'a report'],
    [2, 'a logo'],
    [3, '<svg/>'],
  ] as const)
    assert.equal(
      (await browser.send(`${LIVE}/emails/${again}/files/${number}`, { method: 'GET' })).html,
      text,
    );
  assert.deepEqual((await spool.email(again)).attachments, (await spool.email(id)).attachments);
});
