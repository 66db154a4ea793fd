/** Broadcasts in the dashboard: written, looked at as a contact, checked, tested, scheduled, sent, and reported. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const browser = await logIn(testApp);
const AT = '/t/default/test';
const FROM = 'News <news@sandbox.mx.postrider.example>';
const HTML =
  '<p>Hello {{firstName|friend}}</p><script>bad()</script><a href="{{{unsubscribe_url}}}">Leave</a>';

async function api(method: 'GET' | 'PATCH' | 'POST', path: string, body?: unknown) {
  const answer = await testApp.request(method, `/v1${path}`, body === undefined ? {} : { body });
  assert.ok(answer.status < 400, JSON.stringify(answer.body));
  return answer.body;
}

const audienceId = (await api('POST', '/audiences', { name: 'Readers' })).id;
const contacts = `/audiences/${audienceId}/contacts`;
const ada = await api('POST', contacts, { email: 'delivered+ada@simulator.localhost', firstName: 'Ada' });
await api('POST', contacts, { email: 'delivered+bob@simulator.localhost' });

async function newDraft(subject: string): Promise<string> {
  await browser.open(`${AT}/broadcasts/new?audienceId=${audienceId}`);
  await browser.submit('create', { from: FROM, subject, html: HTML });
  assert.equal(browser.page.status, 200, browser.page.html);
  return /brd_\w+/.exec(browser.page.url)?.[0] ?? '';
}

test('a draft that is refused keeps what was entered, says why, and is stored once it is right', async () => {
  await browser.open(`${AT}/broadcasts/new?audienceId=${audienceId}`);
  await browser.submit('create', { from: FROM, subject: 'News', html: '<p>No way out</p>' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /unsubscribe_url/);
  assert.match(browser.page.html, /&lt;p>No way out&lt;\/p>/);
  await browser.submit('create', { html: HTML });
  assert.match(browser.page.url, /broadcasts\/brd_\w+\?said=created$/);
  const [draft] = (await api('GET', '/broadcasts')).data;
  assert.deepEqual([draft.subject, draft.audienceId, draft.status], ['News', audienceId, 'draft']);
});

test('a draft is shown as the contact that somebody names would get it, in a frame that runs nothing', async () => {
  const id = await newDraft('For {{firstName|friend}}');
  await browser.open(`${AT}/broadcasts/${id}?contact=${encodeURIComponent(ada.email)}`);
  assert.match(browser.page.html, /For Ada/);
  assert.match(browser.page.html, /<iframe[^>]* sandbox/);
  const frame = await browser.open(`${AT}/broadcasts/${id}/preview?contact=${ada.id}`);
  assert.match(frame.html, /Hello Ada/);
  assert.match(String(frame.headers['content-security-policy']), /^sandbox; default-src 'none'/);
  await browser.open(`${AT}/broadcasts/${id}`);
  assert.match(browser.page.html, /For friend/, 'the newest contact has no name');
  await browser.open(`${AT}/broadcasts/${id}?contact=nobody@example.com`);
  assert.match(browser.page.html, /must be the id or the address of a contact/);
});

test('a draft is changed, and a test of it goes to its author alone', async () => {
  const id = await newDraft('First');
  await browser.open(`${AT}/broadcasts/${id}/edit`);
  await browser.submit('save', { subject: 'Second', replyTo: 'answers@sandbox.mx.postrider.example' });
  assert.equal((await api('GET', `/broadcasts/${id}`)).subject, 'Second');
  await browser.submit('test', { to: 'delivered@simulator.localhost, wrong', contact: '' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /value="delivered@simulator.localhost, wrong"/);
  await browser.submit('test', { to: 'delivered@simulator.localhost' });
  assert.match(browser.page.html, /emails\/em_\w+">accepted/);
  assert.equal((await api('GET', `/broadcasts/${id}`)).counts.recipients, 0);
});

test('the check lists what is good and what is not, and schedules in the zone of the person', async () => {
  const id = await newDraft('Scheduled');
  await browser.open('/account');
  await browser.open(`${AT}/broadcasts/${id}/check`);
  // A million contacts take a second to count, so the page arrives without that, and asks for the rest.
  assert.doesNotMatch(browser.page.html, /2 of 2 contacts/);
  const [, whole] = /hx-get="([^"]+)" hx-trigger="load"/.exec(browser.page.html) ?? [];
  assert.match(browser.page.html, new RegExp(`<a href="${whole?.replace('?', '\\?')}">Show it now</a>`));
  await browser.open(whole ?? '');
  assert.match(browser.page.html, /2 of 2 contacts get it now/);
  assert.match(
    browser.page.html,
    /please check<\/span> Readers can unsubscribe from this kind of mail alone/,
  );
  assert.match(browser.page.html, /good<\/span> All tags are known/);
  assert.match(browser.page.html, /Time \(UTC\)/);
  const year = new Date(testApp.app.clock.now() + 86_400_000).toISOString().slice(0, 10);
  await browser.submit('schedule', { scheduleAt: `${year}T09:30`, pace: 'perHour', paceNumber: '60' });
  assert.equal(browser.page.status, 200, browser.page.html);
  const { status, scheduleAt, pace } = await api('GET', `/broadcasts/${id}`);
  assert.deepEqual([status, scheduleAt, pace], ['scheduled', `${year}T09:30:00.000Z`, { perHour: 60 }]);
  await browser.submit('unschedule');
  assert.equal((await api('GET', `/broadcasts/${id}`)).status, 'draft');
  await browser.submit('delete');
  assert.equal((await testApp.request('GET', `/v1/broadcasts/${id}`)).status, 404);
});

test('what was changed after somebody looked at it is not sent', async () => {
  const id = await newDraft('Seen');
  await browser.open(`${AT}/broadcasts/${id}/check?whole=1`);
  await api('PATCH', `/broadcasts/${id}`, { subject: 'Something else' });
  await browser.submit('send');
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /was changed after this page was opened/);
  assert.equal((await api('GET', `/broadcasts/${id}`)).status, 'draft');
  await browser.submit('send');
  assert.notEqual((await api('GET', `/broadcasts/${id}`)).status, 'draft');
});

test('a broadcast is sent once for a double click, then paused, paced, resumed and canceled', async () => {
  const id = await newDraft('Sent');
  await browser.open(`${AT}/broadcasts/${id}/check?whole=1`);
  await browser.submit('send');
  assert.equal(browser.page.status, 200, browser.page.html);
  assert.equal((await api('GET', `/broadcasts/${id}`)).status, 'sending');
  assert.match(
    browser.page.html,
    /data-topic="\/t\/default\/test\/work\/\w+\/\w+" hx-trigger="changed, every 15s"/,
  );
  await browser.submit('pause');
  assert.match(browser.page.html, /Somebody paused it/);
  assert.doesNotMatch(browser.page.html, /hx-trigger/);
  await browser.submit('pace', { pace: 'perDay', paceNumber: '10' });
  assert.deepEqual((await api('GET', `/broadcasts/${id}`)).pace, { perDay: 10 });
  await browser.submit('resume');
  assert.equal((await api('GET', `/broadcasts/${id}`)).status, 'sending');
  await browser.submit('cancel');
  assert.equal((await api('GET', `/broadcasts/${id}`)).status, 'canceled');
  assert.match(browser.page.html, /Results/);
});

test('the results of a broadcast are shown for each contact and for each provider', async () => {
  const id = await newDraft('Reported');
  await api('POST', `/broadcasts/${id}/send`);
  await browser.open(`${AT}/broadcasts/${id}/recipients`);
  assert.equal(browser.page.status, 200);
  await browser.open(`${AT}/broadcasts/${id}/recipients?status=bounced`);
  assert.match(browser.page.html, /No contact in this list/);
  await browser.open(`${AT}/broadcasts/${id}/providers?whole=1`);
  for (const name of ['Gmail', 'Microsoft', 'Others']) assert.match(browser.page.html, new RegExp(name));
  await browser.open(`${AT}/broadcasts?status=sending`);
  assert.match(browser.page.html, /Reported/);
});
