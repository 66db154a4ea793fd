/** Tests of double opt-in as a whole: a pending contact gets a mail, and its link and nothing else confirms. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CONFIRM, DAY_MS, FROM, openWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await openWorld();
});
after(() => world[Symbol.asyncDispose]());

const iso = () => new Date(world.spool.clock.now()).toISOString();

let count = 0;
const newAddress = () => `reader${++count}@rcpt.example`;

/** Signs an address up and returns the path of its link. */
async function signedUp(email = newAddress(), more: object = {}) {
  const { status, body } = await world.signUp(email, more);
  assert.equal(status, 201, JSON.stringify(body));
  await world.work();
  return { email, id: body.id as string, path: await world.linkTo(email) };
}

async function eventsOf(contactId: string): Promise<string[]> {
  const rows = await world.spool.app.db.read.selectFrom('events').select(['type', 'data']).execute();
  return rows.filter(({ data }) => data.includes(contactId)).map(({ type }) => type);
}

test('a pending contact gets one mail in the name of its audience, and the API shows both', async () => {
  const email = newAddress();
  const { status, body } = await world.signUp(email, { consent: { requestedIp: '2001:db8::7' } });
  assert.equal(status, 201);
  assert.equal(body.status, 'pending');
  assert.deepEqual(body.confirmation, {
    sentAt: iso(),
    count: 1,
    nextAt: new Date(world.spool.clock.now() + DAY_MS).toISOString(),
  });
  assert.deepEqual(body.consent, {
    ...{ requestedAt: iso(), source: 'api', requestedIp: '2001:db8::7' },
    ...{ confirmedAt: null, confirmedIp: null, confirmedUserAgent: null, confirmedEmail: null },
  });
  await world.work();
  await world.work();
  const mails = await world.mailsTo(email);
  assert.equal(mails.length, 1);
  const [mail] = mails;
  assert.deepEqual(
    [mail.from, mail.to, mail.type, mail.subject],
    [FROM, [email], 'transactional', 'Please confirm your subscription'],
  );
  assert.match(mail.text, /has asked Acme News to send mail to reader\d+@rcpt\.example/);
  assert.deepEqual(mail.headers, { 'Auto-Submitted': 'auto-generated' });
  const listed = await world.ask(
    'GET',
    `/audiences/${world.audienceId}/contacts?status=pending&email=${email}`,
  );
  assert.deepEqual(
    listed.body.data.map(({ id, confirmation }: { id: string; confirmation: object }) => [id, confirmation]),
    [[body.id, body.confirmation]],
  );
  assert.deepEqual(await eventsOf(body.id), ['contact.created']);
});

test('only the button confirms, once, with the proof of it and one event', async () => {
  const { email, id, path } = await signedUp();
  for (let times = 0; times < 100; times++)
    for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) await world.pages.inject({ method, url: path });
  assert.equal((await world.contact(email)).status, 'pending');
  await world.spool.clock.advance(60_000);
  const at = iso();
  const first = await world.post(path, CONFIRM, { headers: { 'user-agent': 'Browser/1' } });
  assert.equal(first.statusCode, 200);
  assert.match(first.body, /is confirmed/);
  const confirmed = await world.contact(email);
  assert.deepEqual([confirmed.status, confirmed.confirmation, confirmed.updatedAt], ['subscribed', null, at]);
  assert.deepEqual(
    { ...confirmed.consent, requestedAt: '' },
    {
      ...{ requestedAt: '', source: 'api', requestedIp: null, confirmedAt: at, confirmedIp: '127.0.0.1' },
      ...{ confirmedUserAgent: 'Browser/1', confirmedEmail: email },
    },
  );
  await world.spool.clock.advance(60_000);
  assert.equal((await world.post(path)).statusCode, 200);
  assert.deepEqual(await world.contact(email), confirmed);
  assert.match((await world.get(path)).body, /is confirmed/);
  assert.deepEqual(await eventsOf(id), ['contact.created', 'contact.updated']);
});

test('a link is valid for exactly 7 days, and then leads to a friendly page', async () => {
  const [late, punctual] = [await signedUp(), await signedUp()];
  await world.spool.clock.advance(7 * DAY_MS - 1);
  assert.equal((await world.get(late.path)).statusCode, 200);
  assert.equal((await world.post(punctual.path)).statusCode, 200);
  await world.spool.clock.advance(1);
  for (const answer of [await world.get(late.path), await world.post(late.path)]) {
    assert.equal(answer.statusCode, 410);
    assert.match(answer.body, /no longer valid/);
    assert.doesNotMatch(answer.body, /<button/);
  }
  assert.equal((await world.contact(late.email)).status, 'pending');
  assert.equal((await world.contact(punctual.email)).status, 'subscribed');
  assert.match((await world.get(punctual.path)).body, /is confirmed/, 'a confirmed contact stays confirmed');
});

test('an address gets one mail a day and three in all, over deletion, audiences and restarts', async () => {
  const email = newAddress();
  const other = await world.addAudience();
  const sentTo = async () => {
    await world.work();
    return (await world.mailsTo(email)).length;
  };
  await world.signUp(email);
  assert.equal(await sentTo(), 1);
  await world.ask('DELETE', `/audiences/${world.audienceId}/contacts/${email}`);
  const refused = await world.signUp(email.toUpperCase());
  assert.deepEqual([refused.status, refused.body.confirmation.count], [201, 1], 'a refused mail is no error');
  const inOther = await world.signUp(email, {}, other);
  assert.deepEqual([inOther.status, inOther.body.confirmation], [201, refused.body.confirmation]);
  assert.equal(await sentTo(), 1);

  await world.spool.clock.advance(DAY_MS - 1);
  await world.signUp(email);
  assert.equal(await sentTo(), 1);
  await world.spool.clock.advance(1);
  assert.equal((await world.signUp(email)).body.confirmation.count, 2);
  assert.equal(await sentTo(), 2);
  await world.spool.clock.advance(DAY_MS);
  const last = await world.signUp(email, {}, other);
  assert.deepEqual([last.body.confirmation.count, last.body.confirmation.nextAt], [3, null]);
  assert.equal(await sentTo(), 3);
  for (let days = 0; days < 3; days++) {
    await world.spool.clock.advance(400 * DAY_MS);
    await world.ask('DELETE', `/audiences/${world.audienceId}/contacts/${email}`);
    const again = await world.signUp(email);
    assert.deepEqual([again.status, again.body.confirmation.nextAt], [201, null]);
  }
  assert.equal(await sentTo(), 3);
});

test('of many forms at once, one sends the mail', async () => {
  const email = newAddress();
  const other = await world.addAudience();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => world.signUp(email, {}, index % 2 ? other : world.audienceId)),
  );
  assert.ok(answers.every(({ body }) => body.confirmation.count === 1));
  await world.work();
  assert.equal((await world.mailsTo(email)).length, 1);
});

test('the limits of two tenants, and those of live and test mail, are apart', async () => {
  const email = newAddress();
  const { testKey } = world.spool;
  await world.signUp(email);
  const tested = await world.ask(
    'POST',
    `/audiences/${world.audienceId}/contacts?upsert=true`,
    { email, status: 'pending' },
    testKey,
  );
  assert.equal(tested.body.confirmation.count, 1);
  await world.work();
  assert.deepEqual(
    [(await world.mailsTo(email)).length, (await world.mailsTo(email, testKey)).length],
    [1, 1],
  );
  const { liveKey } = await world.spool.addTenant('other');
  await world.spool.addDomain(liveKey, 'other.example');
  const optIn = { from: 'news@other.example' };
  const audience = await world.ask('POST', '/audiences', { name: 'Theirs', optIn }, liveKey);
  const theirs = `/audiences/${audience.body.id}/contacts`;
  const created = await world.ask('POST', theirs, { email, status: 'pending' }, liveKey);
  assert.equal(created.body.confirmation.count, 1);
  await world.work();
  const [mail] = await world.mailsTo(email, liveKey);
  assert.match(mail.text, /has asked other\.example to send/);
  const path = /\/confirm\/[\w-]+/.exec(mail.text)?.[0] ?? '';
  assert.equal((await world.post(path)).statusCode, 200);
  assert.equal((await world.ask('GET', `${theirs}/${email}`, undefined, liveKey)).body.status, 'subscribed');
  assert.equal(
    (await world.contact(email)).status,
    'pending',
    'a link confirms the contact of its tenant alone',
  );
});

test('signing up again never changes somebody who has confirmed or left', async () => {
  const { email, path } = await signedUp();
  const more = { firstName: 'Mallory', properties: { plan: 'none' }, topics: [] };
  await world.signUp(email, { firstName: 'Ada' });
  assert.equal((await world.contact(email)).firstName, 'Ada', 'a pending contact takes new fields');
  await world.post(path);
  const confirmed = await world.contact(email);
  const again = await world.signUp(email, more);
  assert.deepEqual([again.status, again.body], [200, confirmed]);
  const simple = await world.ask('POST', `/audiences/${world.audienceId}/contacts`, {
    email,
    status: 'pending',
  });
  assert.deepEqual([simple.status, simple.body.error.type], [409, 'already_exists']);

  await world.ask('PATCH', `/audiences/${world.audienceId}/contacts/${email}`, { unsubscribed: true });
  const left = await world.contact(email);
  await world.spool.clock.advance(2 * DAY_MS);
  assert.deepEqual((await world.signUp(email, more)).body, left);
  await world.work();
  assert.equal((await world.mailsTo(email)).length, 1);
  assert.equal((await world.post(path)).statusCode, 410, 'an old link does not bring back who has left');
  assert.deepEqual(await world.contact(email), left);
});

test('a reader who left is remembered after deletion, and gets neither a subscription nor a mail', async () => {
  const { email, id, path } = await signedUp();
  await world.post(path);
  const url = (await import('../../src/links/links.ts')).createLinks(world.spool.app).unsubscribeUrl({
    tenantId: world.spool.tenantId,
    topicId: undefined,
    contactId: id as `ct_${string}`,
    address: email,
  });
  await world.ask('DELETE', `/audiences/${world.audienceId}/contacts/${email}`);
  await world.post(new URL(url).pathname, 'List-Unsubscribe=One-Click');
  await world.spool.clock.advance(2 * DAY_MS);
  const again = await world.signUp(email);
  assert.deepEqual(
    [again.status, again.body.status, again.body.consent, again.body.confirmation],
    [201, 'unsubscribed', null, null],
  );
  await world.work();
  assert.equal((await world.mailsTo(email)).length, 1);
  assert.equal((await world.post(path)).statusCode, 410);
});

test('a contact that the owner has unsubscribed elsewhere gets no confirmation mail', async () => {
  const email = newAddress();
  const other = await world.addAudience();
  await world.ask('POST', `/audiences/${other}/contacts`, { email, unsubscribed: true });
  const { body } = await world.signUp(email);
  assert.deepEqual(body.confirmation, { sentAt: null, count: 0, nextAt: null });
  await world.work();
  assert.deepEqual(await world.mailsTo(email), []);
});

test('a suppressed address gets no mail, neither when it signs up nor when it is suppressed meanwhile', async () => {
  const [before, meanwhile] = [newAddress(), newAddress()];
  await world.ask('POST', '/suppressions', { email: before });
  const { status, body } = await world.signUp(before);
  assert.deepEqual([status, body.confirmation], [201, { sentAt: null, count: 0, nextAt: null }]);
  await world.signUp(meanwhile);
  await world.ask('POST', '/suppressions', { email: meanwhile });
  await world.work();
  assert.deepEqual([await world.mailsTo(before), await world.mailsTo(meanwhile)], [[], []]);
  const { confirmation } = await world.contact(meanwhile);
  assert.deepEqual(
    confirmation,
    { sentAt: null, count: 0, nextAt: null },
    'a mail that was not sent does not count',
  );
});

test('a contact that is deleted and created again keeps its mail, and its link confirms the new one', async () => {
  const email = newAddress();
  const contactPath = `/audiences/${world.audienceId}/contacts/${email}`;
  await world.signUp(email);
  await world.ask('DELETE', contactPath);
  await world.signUp(email);
  await world.work();
  assert.equal((await world.mailsTo(email)).length, 1);
  await world.ask('DELETE', contactPath);
  const path = await world.linkTo(email);
  assert.equal((await world.post(path)).statusCode, 410, 'the link of a deleted contact');
  await world.signUp(email);
  assert.equal((await world.post(path)).statusCode, 200);
  assert.equal((await world.contact(email)).status, 'subscribed');
});

test('a mail whose contact is gone before it is made is not sent, and does not count', async () => {
  const email = newAddress();
  await world.signUp(email);
  await world.ask('DELETE', `/audiences/${world.audienceId}/contacts/${email}`);
  await world.work();
  assert.deepEqual(await world.mailsTo(email), []);
  assert.equal((await world.signUp(email)).body.confirmation.count, 1);
});

test('a new address of a pending contact must confirm itself', async () => {
  const { email, id, path } = await signedUp();
  const moved = newAddress();
  const contactPath = `/audiences/${world.audienceId}/contacts/${id}`;
  const changed = await world.ask('PATCH', contactPath, { email: moved });
  assert.deepEqual([changed.body.status, changed.body.confirmation.count], ['pending', 1]);
  await world.work();
  assert.equal((await world.post(path)).statusCode, 410, `the link of ${email} does not confirm ${moved}`);
  assert.equal((await world.contact(moved)).status, 'pending');
  await world.post(await world.linkTo(moved));
  const { status, consent } = await world.contact(moved);
  assert.deepEqual([status, consent.confirmedEmail], ['subscribed', moved]);
});

test('no request confirms: neither a status in a change, nor subscribing again, nor creating anew', async () => {
  const { email } = await signedUp();
  const contactPath = `/audiences/${world.audienceId}/contacts/${email}`;
  for (const field of [{ status: 'subscribed' }, { consent: null }, { confirmation: null }]) {
    const refused = await world.ask('PATCH', contactPath, field);
    assert.equal(refused.status, 400, JSON.stringify(field));
  }
  await world.ask('PATCH', contactPath, { unsubscribed: false });
  for (const unsubscribed of [true, false]) await world.ask('PATCH', contactPath, { unsubscribed });
  await world.ask('POST', `/audiences/${world.audienceId}/contacts?upsert=true`, {
    ...{ email, status: 'subscribed', unsubscribed: false, firstName: 'Ada' },
  });
  const { status, firstName } = await world.contact(email);
  assert.deepEqual([status, firstName], ['pending', 'Ada']);
});

test('wrong settings and fields are refused by name', async () => {
  const { body: template } = await world.ask('POST', '/templates', {
    ...{ name: 'Without link', subject: 's', html: '<p>Hello</p>' },
  });
  for (const [optIn, param, status] of [
    [{}, 'optIn.from', 400],
    [{ from: 'nobody' }, 'optIn.from', 400],
    [{ from: 'a@unknown.example' }, 'from', 422],
    [{ from: FROM, replyTo: 'x' }, 'optIn.replyTo', 400],
    [{ from: FROM, language: 'la' }, 'optIn.language', 400],
    [{ from: FROM, subject: '' }, 'optIn.subject', 400],
    [{ from: FROM, templateId: 'tpl_x' }, 'optIn.templateId', 400],
    [{ from: FROM, templateId: template.id }, 'optIn.templateId', 400],
  ] as const) {
    for (const [method, path] of [
      ['POST', '/audiences'],
      ['PATCH', `/audiences/${world.audienceId}`],
    ] as const) {
      const answer = await world.ask(method, path, { name: 'Readers', optIn });
      assert.deepEqual(
        [answer.status, answer.body.error.param],
        [status, param],
        JSON.stringify(answer.body),
      );
    }
  }
  const email = newAddress();
  const none = await world.addAudience(null);
  for (const [body, audience, param] of [
    [{ email, status: 'unsubscribed' }, world.audienceId, 'status'],
    [{ email, status: 'pending', unsubscribed: true }, world.audienceId, 'unsubscribed'],
    [{ email, consent: { requestedIp: '192.0.2.1' } }, world.audienceId, 'consent'],
    [
      { email, status: 'pending', consent: { requestedIp: '192.0.2.256' } },
      world.audienceId,
      'consent.requestedIp',
    ],
    [{ email, status: 'pending' }, none, 'status'],
  ] as const) {
    const answer = await world.ask('POST', `/audiences/${audience}/contacts`, body);
    assert.deepEqual([answer.status, answer.body.error.param], [400, param], JSON.stringify(answer.body));
  }
  assert.equal((await world.contact(email)).error.type, 'not_found');
});

test('a key of one domain cannot send confirmation mail from another', async () => {
  await world.spool.addDomain(world.spool.liveKey, 'narrow.example');
  const { body } = await world.ask('GET', '/domains');
  const { id: domainId } = body.data.find(({ name }: { name: string }) => name === 'narrow.example');
  const key = await world.spool.newKey({ mode: 'live', domainId });
  const email = newAddress();
  const contacts = `/audiences/${world.audienceId}/contacts`;
  const refused = await world.ask('POST', contacts, { email, status: 'pending' }, key);
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'restricted_api_key']);
  const settings = await world.ask('POST', '/audiences', { name: 'Mine', optIn: { from: FROM } }, key);
  assert.equal(settings.status, 403);
});
