/** A tenant chooses the reply of the simulator, and its test mail becomes what the reply of a real server would make of it. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { eventTypes, openSpool } from '../../support/spool.ts';

const AT = '@simulator.mx.postrider.example';
const FROM = 'Ada <ada@sandbox.mx.postrider.example>';
const spool = await openSpool();
const { testKey, liveKey } = spool;
const stranger = await spool.addTenant('stranger');
after(() => spool.close());
beforeEach(() => spool.request('DELETE', '/v1/simulator/reply'));

async function choose(body: object, key = testKey): Promise<void> {
  const { status, body: answer } = await spool.request('PUT', '/v1/simulator/reply', { key, body });
  assert.equal(status, 200, JSON.stringify(answer));
}

/** Sends test mail to an address, delivers what is due, and returns the email. */
async function sent(to: string, key = testKey) {
  const id = await spool.accept(to, { key, from: FROM });
  await spool.deliverDue();
  return shown(id, key);
}

const shown = async (id: string, key = testKey) =>
  (await spool.request('GET', `/v1/emails/${id}`, { key })).body;

/** Returns the type of the bounce that the event of an email names. */
async function bounceTypeOf(id: string): Promise<string> {
  const { data } = await spool.app.db.read
    .selectFrom('events')
    .select('data')
    .where('emailId', '=', id as `em_${string}`)
    .where('type', '=', 'email.bounced')
    .executeTakeFirstOrThrow();
  return JSON.parse(data).bounce.type;
}

test('a refusal bounces the email with the class of the reply table, and suppresses nobody', async () => {
  await choose({ code: 550, enhancedCode: '5.1.1', text: 'No such user here' });
  const email = await sent(`custom+ann${AT}`);
  const [recipient] = email.recipients;
  assert.deepEqual(
    [recipient.status, recipient.smtpCode, recipient.enhancedCode, recipient.class, recipient.diagnostic],
    ['bounced', 550, '5.1.1', 'bad-mailbox', '550 5.1.1 No such user here'],
  );
  assert.equal(await bounceTypeOf(email.id), 'permanent');
  const { data } = (await spool.request('GET', '/v1/suppressions')).body;
  assert.deepEqual(data, []);
});

test('a refusal that is not about the recipient is no permanent bounce', async () => {
  await choose({ code: 554, enhancedCode: '5.7.1', text: 'Message rejected as spam' });
  const email = await sent(`custom${AT}`);
  assert.equal(email.status, 'bounced');
  assert.notEqual(await bounceTypeOf(email.id), 'permanent');
});

test('a reply of class 4 defers for two seconds, then on the schedule of live mail, until it is removed', async () => {
  await choose({ code: 452, enhancedCode: '4.2.2', text: 'Mailbox full' });
  const { id, recipients } = await sent(`custom${AT}`);
  assert.deepEqual([recipients[0].status, recipients[0].attempts], ['deferred', 1]);
  await spool.clock.advance(2_000);
  await spool.deliverDue();
  assert.equal((await shown(id)).recipients[0].attempts, 2);
  await spool.clock.advance(60_000);
  await spool.deliverDue();
  assert.equal((await shown(id)).recipients[0].attempts, 2, 'the next attempt waits for five minutes');
  await spool.request('DELETE', '/v1/simulator/reply');
  await spool.clock.advance(300_000);
  await spool.deliverDue();
  const email = await shown(id);
  assert.deepEqual([email.status, email.recipients[0].attempts], ['delivered', 3]);
  assert.ok(eventTypes(email).includes('email.delivery_delayed'));
});

test('a 503 defers although it begins with 5, as it does with a real server', async () => {
  await choose({ code: 503, text: 'Bad sequence of commands' });
  assert.equal((await sent(`custom${AT}`)).recipients[0].status, 'deferred');
});

test('an acceptance delivers with the chosen words', async () => {
  await choose({ code: 251, text: 'User not local; will forward' });
  const [recipient] = (await sent(`custom${AT}`)).recipients;
  assert.deepEqual(
    [recipient.status, recipient.smtpCode, recipient.diagnostic],
    ['delivered', 251, '251 User not local; will forward'],
  );
});

test('by default the reply is for `custom` alone, and with `all` for every recipient of test mail', async () => {
  await choose({ code: 550, text: 'No' });
  assert.equal((await sent(`delivered${AT}`)).status, 'delivered');
  assert.equal((await sent('custom@rcpt.example')).status, 'delivered', 'another domain');
  await choose({ code: 550, text: 'No', recipients: 'all' });
  assert.equal((await sent(`delivered${AT}`)).status, 'bounced');
  assert.equal((await sent('ann@rcpt.example')).status, 'bounced');
});

test('neither live mail nor another tenant gets the reply', async () => {
  await choose({ code: 550, text: 'No', recipients: 'all' });
  assert.equal((await sent(`custom${AT}`, liveKey)).status, 'delivered');
  assert.equal((await sent(`custom${AT}`, stranger.testKey)).status, 'delivered');
});
