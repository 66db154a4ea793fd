import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import {
  MAX_ANSWER_BYTES,
  MAX_ANSWERS,
  MAX_INSTALLATION_MEGABYTES,
  MAX_POSTMASTER_MEGABYTES,
  MAX_RETURNED_BYTES,
} from '../../src/inbound/space.ts';
import {
  bounceLocalPart,
  complaintLocalPart,
  feedbackLoopLocalPart,
  unsubscribeLocalPart,
} from '../../src/queue/return-path.ts';
import { decideRecipient } from '../../src/receiving/recipient.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { addReceived } from '../inbound/fixtures.ts';
import { openMailWorld } from '../inbound/mail-world.ts';
import { storeBytesOf } from '../tenants/stored-mail/fixtures.ts';

const world = await openMailWorld();
const { app } = world;

/** Returns the kinds and targets of a recipient, or the code and status of its refusal. */
async function decide(address: string, sizeBytes?: number, sender = 'ann@sender.example'): Promise<string> {
  const decision = await decideRecipient(app, address, { sender, sizeBytes });
  if (decision.kind === 'refused') return `${decision.reply.code} ${decision.reply.status}`;
  return decision.recipient.targets.map(({ kind, targetId }) => `${kind} ${targetId}`).join(' and ');
}

const UNKNOWN = '550 5.1.1';
const DAY_MS = 86_400_000;

test('an exact route is chosen before the address without its tag, then *@domain, then the postmaster', async () => {
  await world.addDomain('shop.example');
  assert.equal(await decide('sales+spring@shop.example'), UNKNOWN);
  assert.equal(await decide('postmaster@shop.example'), 'postmaster shop.example');
  const all = await world.addRoute('*@shop.example');
  assert.equal(await decide('sales+spring@shop.example'), `post ${all}`);
  assert.equal(await decide('postmaster@shop.example'), `post ${all}`);
  const sales = await world.addRoute('sales@shop.example');
  assert.equal(await decide('Sales+spring+more@shop.example'), `post ${sales}`);
  const spring = await world.addRoute('sales+spring@shop.example');
  assert.equal(await decide('SALES+Spring@shop.example'), `post ${spring}`);
  assert.equal(await decide('sales+autumn@shop.example'), `post ${sales}`);
  assert.equal(await decide('+spring@shop.example'), `post ${all}`);
  assert.equal(await decide('"sales+x y"@shop.example'), `post ${all}`);
});

test('a recipient in UTF-8 is found in every case and composition, with a tag too, and stored in one form', async () => {
  await world.addDomain('utf8.example');
  const route = await world.addRoute('jürgen@utf8.example');
  for (const address of ['jürgen', 'JÜRGEN', 'ju\u0308rgen', 'JU\u0308RGEN+x'])
    assert.equal(await decide(`${address}@utf8.example`), `post ${route}`, address);
  assert.equal(await decide('jurgen@utf8.example'), UNKNOWN);
  const decision = await decideRecipient(app, 'JU\u0308RGEN+X@utf8.example', {
    sender: '',
    sizeBytes: undefined,
  });
  assert.ok(decision.kind === 'accepted');
  assert.equal(decision.recipient.address, 'jürgen+x@utf8.example');
  const all = await world.addRoute('*@utf8.example');
  assert.equal(await decide('иван@utf8.example'), `post ${all}`);
});

test('bounces and complaints come back to addresses with our token alone, at whatever domain of ours', async () => {
  const emailId = `em_${'0'.repeat(25)}1` as const;
  const { returnAddressKey: key } = app;
  const bounce = bounceLocalPart(key, { emailId, attemptedAt: app.clock.now() });
  const complaint = complaintLocalPart(key, { emailId, position: 0 });
  for (const domain of ['bounce.mx.postrider.example', 'bounce.shop.example', 'shop.example']) {
    assert.equal(await decide(`${bounce.toUpperCase()}@${domain}`), `bounce ${emailId}`);
    assert.equal(await decide(`${complaint}@${domain}`), `complaint ${emailId}`);
  }
  const registered = `${feedbackLoopLocalPart(key, 'provider-1')}@bounce.mx.postrider.example`;
  assert.equal(await decide(registered), 'complaint provider-1');
  const aged = (days: number) => {
    const attemptedAt = app.clock.now() - days * DAY_MS;
    return `${bounceLocalPart(key, { emailId, attemptedAt })}@bounce.mx.postrider.example`;
  };
  assert.equal(await decide(aged(14)), `bounce ${emailId}`);
  assert.equal(await decide(aged(15)), UNKNOWN);
  const forged = `${bounce.slice(0, -1)}${bounce.endsWith('0') ? '1' : '0'}`;
  for (const localPart of [forged, 'b+', `b+${'0'.repeat(54)}`, `x${bounce}`])
    assert.equal(await decide(`${localPart}@bounce.mx.postrider.example`), UNKNOWN);
});

test('bounces alone come back to the rewritten sender of forwarded mail, at our host for bounces, for 21 days', async () => {
  const { senderRewriting } = app;
  const local = senderRewriting.rewrite('Ann.Lee@sender.example', app.clock.now()) ?? assert.fail();
  const address = `${local}@bounce.mx.postrider.example`;
  assert.equal(await decide(address, undefined, ''), 'srs Ann.Lee@sender.example');
  assert.equal(await decide(address.toLowerCase(), undefined, ''), 'srs ann.lee@sender.example');
  assert.equal(await decide(address), UNKNOWN);
  await world.addDomain('srs.example');
  for (const domain of ['mx.postrider.example', 'srs.example', 'bounce.srs.example'])
    assert.equal(await decide(`${local}@${domain}`, undefined, ''), UNKNOWN, domain);
  const aged = (days: number) =>
    senderRewriting.rewrite('ann@sender.example', app.clock.now() - days * DAY_MS) ?? '';
  assert.equal(
    await decide(`${aged(21)}@bounce.mx.postrider.example`, undefined, ''),
    'srs ann@sender.example',
  );
  assert.equal(await decide(`${aged(22)}@bounce.mx.postrider.example`, undefined, ''), UNKNOWN);
  for (let at = 0; at < local.length; at++) {
    const changed = `${local.slice(0, at)}${local[at] === 'x' ? 'y' : 'x'}${local.slice(at + 1)}`;
    assert.equal(await decide(`${changed}@bounce.mx.postrider.example`, undefined, ''), UNKNOWN, changed);
  }
});

test('addresses that take reports or bounces take none that is declared larger than these are', async () => {
  const emailId = `em_${'0'.repeat(25)}2` as const;
  const { returnAddressKey: key } = app;
  const names = [
    bounceLocalPart(key, { emailId, attemptedAt: app.clock.now() }),
    complaintLocalPart(key, { emailId, position: 0 }),
    unsubscribeLocalPart(key, { emailId, position: 0 }),
  ];
  const addresses = names.map((name) => `${name}@bounce.mx.postrider.example`);
  for (const address of [...addresses, 'reports@mx.postrider.example']) {
    assert.doesNotMatch(await decide(address, MAX_RETURNED_BYTES), /^[45]/);
    assert.equal(await decide(address, MAX_RETURNED_BYTES + 1), '552 5.3.4');
  }
  assert.match(await decide('postmaster@mx.postrider.example', MAX_RETURNED_BYTES + 1), /^postmaster/);
});

test('a disabled route counts as none', async () => {
  await world.addDomain('off.example');
  await world.addRoute('info@off.example', { enabled: false });
  assert.equal(await decide('info@off.example'), UNKNOWN);
  const all = await world.addRoute('*@off.example');
  assert.equal(await decide('info@off.example'), `post ${all}`);
  assert.equal(await decide('info+tag@off.example'), `post ${all}`);
});

test('postmaster and abuse exist at every domain that receives mail here, and nowhere else', async () => {
  const own = ['mx.postrider.example', 'bounce.mx.postrider.example', 'sandbox.mx.postrider.example'];
  for (const domain of [...own, 'shop2.example']) {
    if (domain === 'shop2.example') await world.addDomain(domain);
    for (const name of ['postmaster', 'PostMaster', 'abuse'])
      assert.equal(await decide(`${name}@${domain}`), `postmaster ${domain}`);
    assert.equal(await decide(`nobody@${domain}`), UNKNOWN);
  }
  assert.equal(await decide('Postmaster'), 'postmaster mx.postrider.example');
  for (const address of [
    'postmaster@elsewhere.example',
    'postmaster@postrider.example',
    'postmaster@simulator.mx.postrider.example',
    'postmaster@[127.0.0.1]',
  ])
    assert.equal(await decide(address), UNKNOWN, address);
});

test('a domain of several tenants receives for the one whose verification has stood longest', async () => {
  const second = await world.test.addTenant('second');
  await world.addDomain('shared.example');
  await world.addDomain('shared.example', second.tenantId);
  const route = await world.addRoute('info@shared.example');
  assert.equal(await decide('info@shared.example'), `post ${route}`);
  await world.addDomain('theirs.example', second.tenantId);
  const theirs = await world.addRoute('info@theirs.example', { key: second.liveKey });
  assert.equal(await decide('info@theirs.example'), `post ${theirs}`);
});

test('the routes of the sandbox domain receive mail without a verified domain', async () => {
  const route = await world.addRoute('try@sandbox.mx.postrider.example');
  assert.equal(await decide('try@sandbox.mx.postrider.example'), `post ${route}`);
  assert.equal(await decide('try+tag@sandbox.mx.postrider.example'), `post ${route}`);
  assert.equal(await decide('other@sandbox.mx.postrider.example'), UNKNOWN);
});

test('mail to the postmaster fills its half of the space of the installation, and leaves the other to bounces', async () => {
  const emailId = `em_${'0'.repeat(25)}1` as const;
  const bounce = `${bounceLocalPart(app.returnAddressKey, { emailId, attemptedAt: app.clock.now() })}@bounce.mx.postrider.example`;
  const postmaster = 'postmaster@mx.postrider.example';
  const full = '452 4.2.2';
  const store = (megabytes: number, bytes: number) =>
    storeBytesOf(world.test)(INSTALLATION_TENANT, megabytes * 1024 * 1024 + bytes);
  store(MAX_POSTMASTER_MEGABYTES, -1_000);
  assert.equal(await decide(postmaster, 1_000), 'postmaster mx.postrider.example');
  assert.equal(await decide(postmaster, 1_001), full);
  assert.equal(await decide(bounce, 1_001), `bounce ${emailId}`);
  store(MAX_POSTMASTER_MEGABYTES, 0);
  assert.equal(await decide(postmaster), full);
  assert.equal(await decide(bounce), `bounce ${emailId}`);
  store(MAX_INSTALLATION_MEGABYTES, 0);
  assert.equal(await decide(bounce), full);
  store(0, 0);
});

/** Gives a message so many further recipients, each the same. */
function repeatRecipient(messageId: string, times: number): void {
  const database = new Sqlite(join(world.test.dataDir, 'postrider.db'));
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  const rows =
    'SELECT messageId, i, address, kind, targetId, dsn FROM receivedRecipients, n WHERE messageId = ?';
  database.prepare(`INSERT INTO receivedRecipients ${numbers} ${rows}`).run(times, messageId);
  database.close();
}

test('one email gets a limited number of answers, and a limited size of them; the next email gets its own', async () => {
  const { returnAddressKey: key } = app;
  const of = (number: number) => `em_${'0'.repeat(24)}9${number}` as const;
  const bounceOf = (number: number) =>
    decide(
      `${bounceLocalPart(key, { emailId: of(number), attemptedAt: app.clock.now() })}@bounce.mx.postrider.example`,
    );
  const answer = (number: number, sizeBytes: number) =>
    addReceived(world.test, { tenantId: null, text: '', routeIds: [of(number)], row: { sizeBytes } });
  await answer(1, MAX_ANSWER_BYTES - 1);
  assert.equal(await bounceOf(1), `bounce ${of(1)}`);
  await answer(1, 1);
  assert.equal(await bounceOf(1), '550 5.7.1');
  const complaint = complaintLocalPart(key, { emailId: of(1), position: 0 });
  assert.equal(await decide(`${complaint}@bounce.mx.postrider.example`), '550 5.7.1');
  repeatRecipient(await answer(2, 1), MAX_ANSWERS - 2);
  assert.equal(await bounceOf(2), `bounce ${of(2)}`);
  await answer(2, 1);
  assert.equal(await bounceOf(2), '550 5.7.1');
  assert.equal(await bounceOf(3), `bounce ${of(3)}`);
});
