/** People and applications hand over mail: who may, from which addresses, and what becomes of the message. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { openWriting } from '../../src/db/connection.ts';
import { RefusedMessage } from '../../src/mail/smtp/refused-message.ts';
import { recordDamage, recordRepair, updateMailbox } from '../../src/mailboxes/store.ts';
import { readHeader } from '../../src/submission/header.ts';
import { resumeTenant, suspendTenant } from '../../src/tenant-control/suspend.ts';
import { setTenantPlan } from '../../src/tenants/store.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { createScramClient } from '../support/scram-client.ts';
import { dialPlain, MESSAGE, openSubmissionWorld, PASSWORD, plain, submit } from './submission-world.ts';

const world = await openSubmissionWorld({
  env: { POSTRIDER_SUBMISSION_RECIPIENTS_PER_DAY: '40', POSTRIDER_SUBMISSION_NEW_RECIPIENTS_PER_DAY: '30' },
});
const { app, clock, tenantId } = world;
await addMailbox(world, { address: `dev@${SANDBOX}` });

test('a mailbox sends a message, which is no email of the API', async () => {
  // Emails of the plan that has no maximum are not counted.
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'free' });
  const client = await world.logIn();
  const reply = await submit(client);
  assert.match(reply, /^250 2\.0\.0 Ok: queued as em_[0-9a-z]{26}\r\n$/);
  const message = await world.queued(reply);
  assert.equal(message.tenantId, tenantId);
  assert.equal(message.mailboxId, world.ann.id);
  assert.equal(message.returnPath, 'ann@people.example');
  assert.notEqual(message.domainId, null);
  const listed = await world.request('GET', '/v1/emails', { key: world.liveKey });
  assert.deepEqual(listed.body.data, []);
  const events = await app.db.read
    .selectFrom('events')
    .selectAll()
    .where('emailId', '=', message.id)
    .execute();
  assert.deepEqual(events, []);
  const usage = await app.db.read.selectFrom('usage').selectAll().execute();
  assert.deepEqual(
    usage.filter(({ emails }) => emails > 0),
    [],
  );
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'unlimited' });
  const raw = await world.raw(message);
  assert.match(
    raw,
    /^Received: by mx\.postrider\.example with ESMTPSA \(TLSv1\.3 \S+\)\r\n\tid em_\S+;\r\n\t\S.*\r\nFrom: Ann/,
  );
  assert.doesNotMatch(raw, /127\.0\.0\.1|client\.example/);
  assert.match(raw, new RegExp(`\r\nMessage-ID: <${message.id}@people.example>\r\n\r\nHello\r\n$`));
});

test('nothing is accepted without TLS and a login', async () => {
  const client = await dialPlain(world.ports.starttls);
  assert.doesNotMatch(await client.ask('EHLO client.example\r\n'), /AUTH/);
  assert.match(await client.ask('MAIL FROM:<ann@people.example>\r\n'), /^530 5\.7\.0 TLS is needed/);
  assert.match(await client.ask(`AUTH PLAIN ${plain('ann@people.example', PASSWORD)}\r\n`), /^538 5\.7\.11/);
  assert.match(await client.ask('STARTTLS\r\n'), /^220/);
  const secure = await client.encrypt();
  assert.match(await secure.ask(`AUTH PLAIN ${plain('ann@people.example', PASSWORD)}\r\n`), /^503/);
  const greeting = await secure.ask('EHLO client.example\r\n');
  assert.match(greeting, /^250-AUTH SCRAM-SHA-256-PLUS SCRAM-SHA-256 PLAIN LOGIN/m);
  for (const keyword of [
    'SIZE',
    'PIPELINING',
    '8BITMIME',
    'ENHANCEDSTATUSCODES',
    'CHUNKING',
    'LIMITS',
    'DSN',
    'REQUIRETLS',
    'FUTURERELEASE',
  ])
    assert.match(greeting, new RegExp(`^250[- ]${keyword}\\b`, 'm'));
  assert.match(await secure.ask('MAIL FROM:<ann@people.example>\r\n'), /^530 5\.7\.0 A login is needed/);
  assert.match(await secure.ask(`AUTH PLAIN ${plain('ann@people.example', PASSWORD)}\r\n`), /^235/);
  assert.doesNotMatch(await secure.ask('EHLO client.example\r\n'), /AUTH/);
  assert.match(await submit(secure), /^250/);
  secure.socket.destroy();
});

test('a person logs in by SCRAM, bound to the connection', async () => {
  const client = await world.open();
  const binding = (client.socket as TLSSocket).exportKeyingMaterial(
    ...([32, 'EXPORTER-Channel-Binding', Buffer.alloc(0)] as const),
  );
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const read = (reply: string) => Buffer.from(reply.slice(4), 'base64').toString();
  const logIn = async (bound: Buffer, last = '') => {
    const scram = createScramClient({
      ...{ username: world.ann.address, password: PASSWORD },
      ...{ header: 'p=tls-exporter,,', binding: bound },
    });
    const challenge = await client.ask(`AUTH SCRAM-SHA-256-PLUS ${encode(scram.first)}\r\n`);
    const final = await client.ask(`${encode(scram.final(read(challenge)))}\r\n`);
    return scram.believes(read(final)) ? await client.ask(`${last}\r\n`) : final;
  };
  assert.match(await logIn(Buffer.alloc(32)), /^535 5\.7\.8 /);
  assert.match(await submit(client), /^530 /);
  assert.match(await logIn(binding, '*'), /^501 5\.0\.0 /, 'the client does not believe the server');
  assert.match(await submit(client), /^530 /);
  assert.match(await logIn(binding), /^235 /);
  assert.match(await submit(client), /^250 /);
});

test('a person writes from its own address, with or without a tag, and from no other', async () => {
  const client = await world.logIn();
  for (const address of ['ann@people.example', 'Ann+shop@People.Example'])
    assert.match(
      await submit(client, { from: address, message: MESSAGE.replace('ann@people.example', address) }),
      /^250/,
    );
  for (const from of ['bob@people.example', 'ann@sender.example', 'ann@other.example'])
    assert.match(await submit(client, { from }), /^550 5\.7\.1 /, from);
  // A receipt that a message was read has no sender.
  assert.equal((await world.queued(await submit(client, { from: '' }))).returnPath, '');
});

/** Headers that show a reader another author than the one who has logged in. */
const FORGED = [
  'From: Bob <bob@people.example>',
  'From: Ann <ann@tenant.example>',
  'From: ann@people.example.evil.example',
  'From: ann@people.example\r\nSender: bob@people.example',
  'From: ann@people.example\r\nResent-From: bob@people.example',
  'From: ann@people.example\r\nResent-From: ann@people.example\r\nResent-Sender: bob@people.example',
];

test('a message of another author is refused', async () => {
  const before = (await world.messages()).length;
  const client = await world.logIn();
  for (const header of FORGED)
    assert.match(
      await submit(client, { message: `${header}\r\nSubject: Hi\r\n\r\nHello\r\n` }),
      /^550 5\.7\.1 /,
      header,
    );
  assert.equal((await world.messages()).length, before);
});

/** Headers that programs read in several ways. */
const AMBIGUOUS = {
  'no author': 'To: bob@receiver.example',
  'two fields': 'From: Ann <ann@people.example>\r\nFrom: Bob <bob@people.example>',
  'two fields, the first one forged': 'From: Bob <bob@people.example>\r\nfrom: Ann <ann@people.example>',
  'two addresses': 'From: Ann <ann@people.example>, bob@people.example',
  'an address as the name': 'From: bob@people.example <ann@people.example>',
  'an encoded address as the name': 'From: =?utf-8?B?PGJvYkBwZW9wbGUuZXhhbXBsZT4=?= <ann@people.example>',
  'a name from right to left': 'From: "\u202eelpmaxe.elpoep@bob" <ann@people.example>',
  'a quoted address as the name': 'From: "<bob@people.example>" <ann@people.example>',
  'a space before the colon': 'From : bob@people.example\r\nFrom: ann@people.example',
  'a line before the field': ' From: bob@people.example\r\nFrom: ann@people.example',
  'a line that is no field': 'From bob@people.example\r\nFrom: ann@people.example',
  'a field folded before its colon': 'From\r\n : bob@people.example\r\nFrom: ann@people.example',
  'a control character': 'From: bob@people.example\x0b <ann@people.example>',
  'a line of white space': 'Subject: a\r\n \t\r\nFrom: ann@people.example',
  'two subjects': 'From: ann@people.example\r\nSubject: a\r\nTo: bob@receiver.example',
  'two dates': `From: ann@people.example\r\n${'Date: Mon, 1 Jan 2024 00:00:00 +0100\r\n'.repeat(2)}X-A: b`,
  'two lists of recipients': 'From: ann@people.example\r\nTo: a@receiver.example\r\nTo: b@receiver.example',
  'two ids': 'From: ann@people.example\r\nMessage-ID: <a@b.example>\r\nMessage-ID: <c@b.example>',
  'two senders': 'From: ann@people.example\r\nSender: ann@people.example\r\nSender: bob@people.example',
  'a sender of many': 'From: ann@people.example\r\nSender: ann@people.example, bob@people.example',
  'an encoded address in quotes': 'From: "=?utf-8?q?=3Cbob=40people.example=3E?=" <ann@people.example>',
  'an unknown charset': 'From: =?none?q?Bob?= <ann@people.example>',
  'an encoded name from right to left': 'From: =?utf-8?b?4oCuYm9i?= <ann@people.example>',
};

for (const [what, header] of Object.entries(AMBIGUOUS))
  test(`a header is refused with ${what}`, () => {
    const octets = Buffer.from(`${header}\r\nSubject: Hi\r\n`);
    assert.throws(() => readHeader(octets, 'mx.postrider.example'), RefusedMessage);
  });

test('names in every usual form are kept', async () => {
  const client = await world.logIn();
  for (const from of [
    'ann@people.example (Ann Lee)',
    '"Lee, Ann" <ann@people.example>',
    '=?utf-8?Q?=C3=84nn?= <ann@people.example>',
    '=?iso-8859-1?Q?=C4nn?= Lee <ann@people.example>',
    '\r\n\tAnn <ann@people.example>',
  ]) {
    const message = `From: ${from}\r\nSender: <ann@people.example>\r\n\r\nHello\r\n`;
    const stored = await world.queued(await submit(client, { message }));
    assert.ok((await world.raw(stored)).includes(`From: ${from}\r\n`), from);
  }
});

test('an address in UTF-8 is used by its owner alone, in each of its spellings', async () => {
  const { scramSalt, scramVerifier } = world.ann;
  const aliases = ['joerg@people.example'];
  await addMailbox(world, { address: 'jörg@people.example', aliases, scramSalt, scramVerifier });
  const parameters = ' SMTPUTF8';
  const own = MESSAGE.replace('ann@people', 'jörg@people');
  const client = await world.logIn();
  assert.match(await submit(client, { from: 'jörg@people.example', parameters }), /^550 5\.7\.1 /);
  assert.match(await submit(client, { message: own, parameters }), /^550 5\.7\.1 /);
  const other = MESSAGE.replace('people.example', 'bücher.example');
  assert.match(await submit(client, { message: other, parameters }), /^550 5\.7\.1 /);
  const jörg = await world.logIn('JO\u0308RG@people.example');
  for (const from of ['jörg@people.example', 'jo\u0308rg@people.example', 'JÖRG+news@people.example']) {
    const message = MESSAGE.replace('ann@people.example', from);
    const stored = await world.queued(await submit(jörg, { from, message, parameters }));
    assert.deepEqual([stored.returnPath, stored.sender, stored.utf8], [from, from, 1]);
  }
  const stored = await world.queued(await submit(jörg, { from: 'joerg@people.example', message: own }));
  assert.equal(stored.utf8, 1, 'the author is in UTF-8, although the client has not said so');
  assert.match(await submit(jörg, { from: 'jorg@people.example', parameters }), /^550 5\.7\.1 /);
  assert.match(await submit(jörg, { from: 'jörg@people.example' }), /^550 5\.6\.7 /, 'without SMTPUTF8');
  for (const from of ['j\u202eörg', 'j\u0000örg', 'j\ufffdrg'])
    assert.match(await submit(jörg, { from: `${from}@people.example`, parameters }), /^50[01] /, from);
});

test('fields that must not leave are removed, and others stay', async () => {
  const client = await world.logIn();
  const fields = [
    'Bcc: secret@receiver.example',
    'Return-Path: <x@x.example>',
    'Authentication-Results: mx.postrider.example; dmarc=pass',
    'Authentication-Results: other.example; dmarc=pass',
    'Date: Mon, 1 Jan 2024 00:00:00 +0100',
    'Message-ID: <own@people.example>',
    'ARC-Authentication-Results: i=1; other.example; dmarc=pass',
    'ARC-Authentication-Results: i=1; mx.postrider.example; dmarc=pass',
    'Received-SPF: pass (mx.postrider.example: allowed)',
    'Resent-From: Ann <ann@people.example>',
  ];
  const message = MESSAGE.replace('Subject:', `${fields.join('\r\n')}\r\nSubject:`);
  const stored = await world.queued(await submit(client, { message }));
  const raw = await world.raw(stored);
  assert.doesNotMatch(raw, /Bcc|Return-Path|Received-SPF|postrider\.example; dmarc/);
  for (const kept of [fields[3], fields[4], fields[5], fields[6], fields[9]])
    assert.ok(raw.includes(`${kept}\r\n`), kept);
  assert.equal(raw.match(/Message-ID/g)?.length, 1);
});

test('suppressed recipients are refused with the reason', async () => {
  await world.request('POST', '/v1/suppressions', {
    key: world.liveKey,
    body: { email: 'gone@receiver.example' },
  });
  const client = await world.logIn();
  assert.match(
    await submit(client, { to: 'Gone@receiver.example' }),
    /^550 5\.7\.1 <Gone@receiver\.example> is suppressed: the address was added/,
  );
});

test('mailboxes of the sandbox write only to each other', async () => {
  const client = await world.logIn(`dev@${SANDBOX}`);
  const message = `From: dev@${SANDBOX}\r\n\r\nHello\r\n`;
  const mail = { from: `dev@${SANDBOX}`, message };
  assert.match(await submit(client, { ...mail, to: 'bob@receiver.example' }), /^550 5\.7\.1 /);
  const stored = await world.queued(await submit(client, { ...mail, to: `dev@${SANDBOX}` }));
  assert.equal(stored.domainId, null);
});

test('mail from any address of the sandbox goes to nobody elsewhere', async () => {
  const own = 'zed@people.example';
  const role = `billing@${SANDBOX}`;
  await addMailbox(world, { address: own, aliases: [role] });
  const client = await world.logIn(own);
  const inside = [`dev@${SANDBOX}`];
  const outside = [`dev@${SANDBOX}`, 'bob@receiver.example'];
  for (const [from, header] of [
    [role, `From: ${own}`],
    [own, `From: ${role}`],
    ['', `From: ${own}\r\nSender: ${role}`],
  ] as const) {
    const mail = { from, message: `${header}\r\n\r\nHello\r\n` };
    const before = (await world.messages()).length;
    assert.match(await submit(client, { ...mail, to: outside }), /^550 5\.7\.1 .*write only to each other/);
    assert.equal((await world.messages()).length, before);
    assert.match(await submit(client, { ...mail, to: inside }), /^250/);
  }
  assert.match(
    await submit(client, { from: own, to: outside, message: `From: ${own}\r\n\r\nHello\r\n` }),
    /^250/,
  );
});

test('a mailbox of the sandbox writes to everybody from its address at a verified domain', async () => {
  const from = 'yan@people.example';
  await addMailbox(world, { address: `yan@${SANDBOX}`, aliases: [from] });
  const client = await world.logIn(`yan@${SANDBOX}`);
  const stored = await world.queued(
    await submit(client, { from, message: `From: ${from}\r\n\r\nHello\r\n` }),
  );
  assert.notEqual(stored.domainId, null);
});

test('nobody writes from a domain that the tenant has lost', async () => {
  const own = 'uma@people.example';
  const lost = 'uma@lost.example';
  await addMailbox(world, { address: own, aliases: [lost] });
  const client = await world.logIn(own);
  const submitAll = async () => [
    await submit(client, { from: lost, message: `From: ${own}\r\n\r\nHello\r\n` }),
    await submit(client, { from: own, message: `From: ${own}\r\nSender: ${lost}\r\n\r\nHello\r\n` }),
    await submit(client, { from: own, message: `From: ${lost}\r\n\r\nHello\r\n` }),
  ];
  for (const reply of await submitAll()) assert.match(reply, /^250/);
  const { body } = await world.request('GET', '/v1/domains?limit=100', { key: world.liveKey });
  const { id } = body.data.find(({ name }: { name: string }) => name === 'lost.example');
  const deleted = await world.request('DELETE', `/v1/domains/${id}`, { key: world.liveKey });
  assert.equal(deleted.status, 204, JSON.stringify(deleted.body));
  for (const reply of await submitAll()) assert.match(reply, /^550 5\.7\.1 .*is not one of yours/);
});

test('a mailbox writes to a limited number of recipients a day, and to fewer new ones', async () => {
  const { address } = await addMailbox(world, { address: 'mass@people.example' });
  const client = await world.logIn(address);
  const message = MESSAGE.replace('ann@', 'mass@');
  const many = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `${name}${index}@receiver.example`);
  const mail = { from: address, message };
  assert.match(await submit(client, { ...mail, to: many(30, 'a') }), /^250/);
  assert.match(
    await submit(client, { ...mail, to: 'new@receiver.example' }),
    /^451 4\.7\.0 .* 30 recipients a day to whom/,
  );
  // The last recipient that is allowed may be named again.
  assert.match(await submit(client, { ...mail, to: [...many(10, 'a'), 'a9@receiver.example'] }), /^250/);
  assert.match(
    await submit(client, { ...mail, to: 'a1@receiver.example' }),
    /^451 4\.7\.0 .* 40 recipients a day/,
  );
  await clock.advance(25 * 3_600_000);
  const later = await world.logIn(address);
  assert.match(await submit(later, { ...mail, to: 'new@receiver.example' }), /^250/);
});

/** Changes what is counted as the mail of a mailbox or a tenant that waits. */
function countUnsent(owner: string, bytes: number): void {
  const side = openWriting(join(world.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare('UPDATE unsentMail SET bytes = bytes + ? WHERE owner = ?').run(bytes, owner);
  side.close();
}

test('no more mail is taken from a mailbox or a tenant of which too much waits', async () => {
  const { id, tenantId, address } = await addMailbox(world, { address: 'full@people.example' });
  const client = await world.logIn(address);
  const mail = { from: address, message: MESSAGE.replace('ann@', 'full@') };
  await world.queued(await submit(client, mail));
  countUnsent(id, 1024 ** 3);
  assert.match(await submit(client, mail), /^452 4\.7\.0 /);
  countUnsent(id, -(1024 ** 3));
  countUnsent(tenantId, 4 * 1024 ** 3);
  assert.match(await submit(client, mail), /^452 4\.7\.0 .* of your tenant /);
  countUnsent(tenantId, -4 * 1024 ** 3);
  assert.match(await submit(client, mail), /^250 /);
});

test('sessions at the same time do not exceed the limits together', async () => {
  const { address } = await addMailbox(world, { address: 'race@people.example' });
  const message = MESSAGE.replace('ann@', 'race@');
  const clients = [await world.logIn(address), await world.logIn(address)];
  for (const [number, client] of clients.entries()) {
    await client.ask(`MAIL FROM:<${address}>\r\n`);
    for (let index = 0; index < 20; index++)
      assert.match(await client.ask(`RCPT TO:<r${number}${index}@receiver.example>\r\n`), /^250/);
    assert.match(await client.ask('DATA\r\n'), /^354/);
  }
  const replies: string[] = [];
  for (const client of clients) replies.push((await client.ask(`${message}.\r\n`)).slice(0, 9));
  assert.deepEqual(replies, ['250 2.0.0', '451 4.7.0']);
});

test('a message of a damaged mailbox waits, and one of a login that has ended is not taken', async () => {
  const { id, address } = await addMailbox(world, { address: 'left@people.example' });
  const client = await world.logIn(address);
  const begun = await world.logIn(address);
  const message = MESSAGE.replace('ann@', 'left@');
  for (const command of [`MAIL FROM:<${address}>`, 'RCPT TO:<bob@receiver.example>', 'DATA'])
    assert.match(await begun.ask(`${command}\r\n`), /^[23]/);
  await app.db.commit(recordDamage, { id, now: clock.now() });
  assert.match(await client.ask(`MAIL FROM:<${address}>\r\n`), /^451 4\.3\.2 The mailbox is damaged/);
  await app.db.commit(recordRepair, { id, status: 'active', now: clock.now() });
  await app.db.commit(updateMailbox, { tenantId, id, change: { passwordHash: 'another' }, now: clock.now() });
  // A program that keeps the connection keeps its message, too.
  assert.match(await client.ask(`MAIL FROM:<${address}>\r\n`), /^421 4\.7\.0 The login does not stand/);
  assert.match(await begun.ask(`${message}.\r\n`), /^421 4\.7\.0 /);
  assert.equal((await world.messages()).filter(({ mailboxId }) => mailboxId === id).length, 0);
});

test('the people of a suspended tenant log in, and hand over no mail until it is resumed', async () => {
  const [before, now] = [await world.logIn(), clock.now()];
  await app.db.commit(suspendTenant, { tenant: tenantId });
  const client = await world.logIn();
  for (const one of [before, client])
    assert.match(
      await one.ask('MAIL FROM:<ann@people.example>\r\n'),
      /^550 5\.7\.1 .* has suspended your account/,
    );
  await app.db.commit(resumeTenant, { tenant: tenantId, now });
  assert.match(await submit(client), /^250/);
});

test('a message is held until the time that its writer names', async () => {
  const client = await world.logIn();
  const message = await world.queued(
    await submit(client, { parameters: ' HOLDFOR=3600 RET=HDRS ENVID=x+2Bone' }),
  );
  assert.equal(message.datedAt - message.createdAt, 3_600_000);
  assert.equal(message.dsn, 'RET=HDRS ENVID=x+2Bone');
  assert.equal((await world.recipients(message.id))[0]?.dueAt, message.datedAt);
  assert.match(await submit(client, { parameters: ' HOLDFOR=99999999' }), /^501 5\.5\.4/);
  assert.match(await submit(client, { parameters: ' HOLDFOR=1 HOLDUNTIL=2027-01-01T00:00:00Z' }), /^501/);
});

test('a full disk is told before the message is sent', async () => {
  const client = await world.logIn();
  await client.ask('MAIL FROM:<ann@people.example>\r\n');
  await client.ask('RCPT TO:<bob@receiver.example>\r\n');
  Object.defineProperty(app.disk, 'isBelowReserve', { value: true, configurable: true });
  assert.match(await client.ask('DATA\r\n'), /^452 4\.3\.1 /);
  assert.match(await client.ask('MAIL FROM:<ann@people.example>\r\n'), /^452 4\.3\.1 /);
  Reflect.deleteProperty(app.disk, 'isBelowReserve');
  assert.match(await submit(client), /^250/);
});
