import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { INLINE_BYTES } from '../../src/blobs/blobs.ts';
import { MAX_POSTMASTER_MEGABYTES, MAX_RETURNED_BYTES } from '../../src/inbound/space.ts';
import { undecided } from '../../src/mail/auth/result.ts';
import { MAX_RECEIVED_FIELDS } from '../../src/mail/message/normalize.ts';
import { bounceLocalPart, complaintLocalPart } from '../../src/queue/return-path.ts';
import type { OverloadReason } from '../../src/system/guards/overload.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { openMailWorld, PASS, sendMail } from '../inbound/mail-world.ts';
import type { TestClient } from '../mail/smtp/server/fixture.ts';
import { storePlan } from '../support/store-plan.ts';
import { storeBytesOf } from '../tenants/stored-mail/fixtures.ts';

let overload: OverloadReason | undefined;
let isBelowReserve = false;
const world = await openMailWorld({
  replace: ({ guards, disk }) => ({
    guards: { ...guards, overload: { reasonToRefuse: () => overload } },
    disk: Object.defineProperty(disk, 'isBelowReserve', { get: () => isBelowReserve }),
  }),
});
await world.addDomain('shop.example');
const route = await world.addRoute('info@shop.example');

const last = <Row>(rows: readonly Row[]): Row => {
  const row = rows.at(-1);
  assert.ok(row);
  return row;
};
const lastMessage = async () => {
  await world.clock.advance(1);
  return last(await world.messages());
};
async function bytesOf(blobId: `blob_${string}` | null): Promise<string> {
  assert.ok(blobId);
  const pieces: Buffer[] = [];
  for await (const piece of (await world.app.blobs.open(blobId)).chunks()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('a message is on disk with everything about it when the client is told 250', async () => {
  const client = await world.open();
  const message = [
    'Authentication-Results: mx.postrider.example; dmarc=pass',
    'From: Ann <ann@sender.example>',
    'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
    'Message-ID: <one@sender.example>',
    '',
    'Hi\nthere',
    '',
  ].join('\r\n');
  const reply = await sendMail(client, { to: ['info@shop.example', 'INFO+x@shop.example'], message });
  // The field that claims to be ours is gone, and the bare LF is CRLF.
  const stored = `${message.slice(message.indexOf('From')).replace('Hi\n', 'Hi\r\n')}\r\n`;
  const row = await lastMessage();
  assert.equal(reply, `250 2.0.0 Ok: queued as ${row.id}\r\n`);
  const { id: _, blobId, trace, ...columns } = row;
  const now = world.clock.now() - 1;
  assert.deepEqual(columns, {
    tenantId: world.test.tenantId,
    sizeBytes: Buffer.byteLength(stored),
    sender: 'ann@sender.example',
    remoteAddress: '127.0.0.1',
    helo: 'mail.sender.example',
    tls: null,
    requireTls: 0,
    utf8: 0,
    auth: JSON.stringify(PASS),
    spamScore: 1.5,
    spamReasons: '[{"name":"missing_date","points":1.5}]',
    flagged: 0,
    headerFrom: 'ann@sender.example',
    subject: 'Grüße',
    messageId: 'one@sender.example',
    emailId: null,
    createdAt: now,
    endedAt: null,
    contentDeletedAt: null,
    isForRoute: 1,
    dsn: null,
    reportsDelivery: 0,
  });
  assert.equal(
    trace,
    [
      'Return-Path: <ann@sender.example>',
      'Authentication-Results: mx.postrider.example;',
      ' spf=pass smtp.mailfrom=sender.example;',
      ' spf=pass smtp.helo=mail.sender.example;',
      ' dkim=none;',
      ' dmarc=pass header.from=sender.example;',
      ' iprev=pass policy.iprev=127.0.0.1',
      'Received: from mail.sender.example (mail.sender.example [127.0.0.1])',
      '\tby mx.postrider.example with ESMTP',
      `\tid ${row.id};`,
      '\tFri, 15 Jan 2027 08:00:00 +0000',
      '',
    ].join('\r\n'),
  );
  assert.equal(await bytesOf(blobId), stored);
  assert.deepEqual(
    (await world.recipients()).filter(({ messageId }) => messageId === row.id),
    ['info@shop.example', 'INFO+x@shop.example'].map((address, position) => ({
      messageId: row.id,
      position,
      address,
      kind: 'post',
      targetId: route,
      dsn: null,
    })),
  );
  // Two addresses of one route make one post.
  const [task, ...more] = (await world.tasks()).filter(({ messageId }) => messageId === row.id);
  assert.deepEqual([task?.kind, task?.targetId, task?.state, more], ['post', route, 'pending', []]);
});

test('the tenant gets the event email.received in live mode, and the operator a line', async () => {
  const client = await world.open();
  world.lines.length = 0;
  await sendMail(client, { to: 'info@shop.example' });
  const { id, createdAt } = await lastMessage();
  const events = await world.app.db.read
    .selectFrom('events')
    .selectAll()
    .where('type', '=', 'email.received')
    .execute();
  const event = events.find(({ data }) => data.includes(id));
  assert.deepEqual([event?.mode, event?.tenantId, event?.emailId], ['live', world.test.tenantId, null]);
  assert.deepEqual(JSON.parse(event?.data ?? ''), {
    id,
    sender: 'ann@sender.example',
    to: 'info@shop.example',
    recipients: ['info@shop.example'],
    from: 'ann@sender.example',
    subject: 'Hello',
    messageId: null,
    emailId: null,
    sizeBytes: 24,
    auth: { spf: 'pass', dkim: 'none', dmarc: 'pass' },
    flagged: false,
    createdAt: new Date(createdAt).toISOString(),
  });
  const [line] = world.lines;
  assert.deepEqual(line, {
    receivedId: id,
    tenantId: world.test.tenantId,
    from: 'ann@sender.example',
    to: ['info@shop.example'],
    client: '127.0.0.1',
    helo: 'mail.sender.example',
    tls: null,
    sizeBytes: 24,
    flagged: false,
    msg: 'mail received',
  });
});

test('a message that comes over TLS says so in its row and in its trace, and asks for TLS on its way on', async () => {
  const plain = await world.open();
  assert.match(await plain.ask('STARTTLS\r\n'), /^220/);
  const client = await plain.encrypt();
  assert.match(await client.ask('EHLO [192.0.2.1]\r\n'), /REQUIRETLS/);
  await client.ask('MAIL FROM:<ann@sender.example> SMTPUTF8 REQUIRETLS\r\n');
  await client.ask('RCPT TO:<info@shop.example>\r\n');
  await client.ask('DATA\r\n');
  assert.match(await client.ask('Subject: x\r\n\r\n.\r\n'), /^250/);
  client.socket.destroy();
  const { id, tls, requireTls, utf8, trace } = await lastMessage();
  assert.deepEqual([tls, requireTls, utf8], ['TLSv1.3', 1, 1]);
  assert.match(
    trace,
    /^Received: from \[192\.0\.2\.1\] \(mail\.sender\.example \[127\.0\.0\.1\]\)\r\n\tby mx\.postrider\.example with UTF8SMTPS \(TLSv1\.3 TLS_\w+\)\r\n/m,
  );
  assert.ok(trace.includes(`\tid ${id} for <info@shop.example>;\r\n`));
});

test('an author and a recipient in UTF-8 are stored in the form in which they are looked up', async () => {
  await world.addDomain('utf8.example');
  await world.addRoute('*@utf8.example');
  world.knobs.result = { ...PASS, from: { ...PASS.from, addresses: ['JO\u0308RG@sender.example'] } };
  assert.match(await sendMail(await world.open(), { to: 'BÜB@utf8.example' }), /^250/);
  world.knobs.result = PASS;
  const { id, headerFrom, trace } = await lastMessage();
  assert.equal(headerFrom, 'jörg@sender.example');
  assert.ok(trace.includes('for <büb@utf8.example>;'));
  const { body } = await world.test.request(
    'GET',
    `/v1/inbound/messages?from=${encodeURIComponent('Jörg@sender.example')}&address=${encodeURIComponent('bu\u0308b@utf8.example')}`,
    { key: world.test.liveKey },
  );
  assert.deepEqual(
    body.data.map((one: { id: string }) => one.id),
    [id],
  );
});

test('a message to several tenants and the postmaster is one row for each, all with the same bytes', async () => {
  const second = await world.test.addTenant('second');
  await world.addDomain('second.example', second.tenantId);
  await world.addRoute('*@second.example', { key: second.liveKey });
  const before = (await world.messages()).length;
  const client = await world.open();
  const to = ['info@shop.example', 'a@second.example', 'postmaster@shop.example', 'b@second.example'];
  assert.match(await sendMail(client, { to }), /^250/);
  await world.clock.advance(1);
  const rows = (await world.messages()).slice(before);
  assert.deepEqual(
    new Set(rows.map(({ tenantId }) => tenantId)),
    new Set([world.test.tenantId, second.tenantId, null]),
  );
  assert.equal(new Set(rows.map(({ blobId }) => blobId)).size, 1);
  const recipients = await world.recipients();
  for (const { id, tenantId, endedAt } of rows) {
    const mine = recipients.filter(({ messageId }) => messageId === id).map(({ address }) => address);
    const expected = tenantId === null ? [to[2]] : tenantId === second.tenantId ? [to[1], to[3]] : [to[0]];
    assert.deepEqual(mine, expected);
    // Nothing is done with mail to the postmaster.
    assert.equal(endedAt !== null, tenantId === null);
  }
});

test('a message names the email that it answers, when that is an email of its tenant', async () => {
  const client = await world.open();
  const sent = await world.test.request('POST', '/v1/emails', {
    key: world.test.liveKey,
    body: {
      type: 'transactional',
      from: 'info@shop.example',
      to: 'ann@sender.example',
      subject: 'Offer',
      text: 'Hi',
    },
  });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const { id } = sent.body;
  const answer = (reference: string) => `In-Reply-To: ${reference}\r\n\r\nYes\r\n`;
  await sendMail(client, { to: 'info@shop.example', message: answer(`<${id}@shop.example>`) });
  assert.equal((await lastMessage()).emailId, id);
  const unknown = `em_${'0'.repeat(26)}`;
  for (const reference of [`<${unknown}@shop.example>`, `${id}`, `<x${id}@shop.example>`]) {
    await sendMail(client, { to: 'info@shop.example', message: answer(reference) });
    assert.equal((await lastMessage()).emailId, null, reference);
  }
  const references = `References: <a@b> <${id}@shop.example>\r\n\t<${unknown}@shop.example>\r\n\r\n`;
  await sendMail(client, { to: 'info@shop.example', message: references });
  assert.equal((await lastMessage()).emailId, id);
});

test('a large message goes to a file, and so does a small one when memory is used up', async () => {
  const client = await world.open();
  const line = `${'x'.repeat(98)}\r\n`;
  const message = `Subject: large\r\n\r\n${line.repeat(INLINE_BYTES / 50)}`;
  assert.match(await sendMail(client, { to: 'info@shop.example', message }), /^250/);
  const large = await lastMessage();
  assert.equal(await bytesOf(large.blobId), `${message}\r\n`);
  const { smtp } = world.app.guards.memory;
  assert.equal(smtp.usedBytes, 0);
  const other = smtp.open('other');
  other.add(1 << 30);
  assert.match(
    await sendMail(client, { to: 'info@shop.example', message: 'Subject: small\r\n\r\n' }),
    /^250/,
  );
  other.release();
  const { blobId } = await lastMessage();
  assert.ok(blobId);
  assert.equal((await world.app.blobs.open(blobId)).inline, undefined);
  assert.equal(await bytesOf(blobId), 'Subject: small\r\n\r\n\r\n');
});

/** The files of blobs, partly written ones included. */
function files(): string[] {
  const root = join(world.test.dataDir, 'blobs');
  return existsSync(root)
    ? readdirSync(root, { recursive: true })
        .map(String)
        .filter((name) => name.length > 10)
    : [];
}

test('refusals of the content leave no bytes behind, and the next message of the session is accepted', async () => {
  const client = await world.open();
  const before = files();
  const hops = 'Received: by a.example\r\n'.repeat(MAX_RECEIVED_FIELDS + 1);
  const filler = `${'x'.repeat(70)}\r\n`.repeat(10_000);
  world.lines.length = 0;
  for (const [message, reply] of [
    [`${hops}\r\nHi\r\n${filler}`, /^554 5\.4\.6 /],
    [`A: b\r\n${' c\r\n'.repeat(1_000)}\r\n`, /^550 5\.6\.0 /],
    [`A: ${`b\r\n ${'b'.repeat(900)}`.repeat(300)}\r\n\r\n`, /^550 5\.6\.0 /],
    [`A: b\r\n\r\n${filler}a\rb\r\n`, /^550 5\.6\.0 /],
    [`A: b\r\n\r\n${filler}a\0b\r\n`, /^550 5\.6\.0 /],
  ] as const) {
    assert.match(await sendMail(client, { to: 'info@shop.example', message }), reply);
    assert.deepEqual(files(), before);
  }
  assert.equal(world.app.guards.memory.smtp.usedBytes, 0);
  assert.equal(world.lines.filter(({ msg }) => msg === 'mail refused').length, 3);
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^250/);
});

test('signatures are verified over all fields with CRLF line ends, and the verdict decides', async () => {
  const client = await world.open();
  const { knobs } = world;
  const before = files();
  const message = 'Authentication-Results: mx.postrider.example; none\r\nSubject: a\n\r\nHi\n';
  const send = () => sendMail(client, { to: 'info@shop.example', message });
  assert.match(await send(), /^250/);
  assert.equal(knobs.written, `${message.replace(/(?<!\r)\n/g, '\r\n')}\r\n`);
  assert.deepEqual(knobs.inputs.at(-1), {
    owner: '127.0.0.1',
    address: '127.0.0.1',
    helo: 'mail.sender.example',
    sender: 'ann@sender.example',
    hostname: 'mx.postrider.example',
  });
  const fails = (policy: 'none' | 'quarantine' | 'reject') =>
    ({ ...PASS, dmarc: { result: 'fail', policy, domain: 'sender.example', reason: 'no' } }) as const;
  knobs.result = fails('reject');
  assert.match(await send(), /^550 5\.7\.1 /);
  knobs.result = { ...PASS, from: { addresses: ['a@b.example', 'c@d.example'], fields: 1 } };
  assert.match(await send(), /^550 5\.6\.0 /);
  knobs.result = undecided('127.0.0.1', 'DNS does not answer');
  assert.match(await send(), /^451 4\.7\.24 /);
  assert.deepEqual(files(), before);
  knobs.result = fails('quarantine');
  await world.clock.advance(1);
  assert.match(await send(), /^250/);
  const { flagged, spamReasons } = await lastMessage();
  assert.equal(flagged, 1);
  assert.match(spamReasons, /dmarc_quarantine/);
  knobs.result = PASS;
});

test('a bounce to an address with our token is accepted whatever DMARC says, since the token proves more', async () => {
  const client = await world.open();
  const { app, knobs } = world;
  const emailId = `em_${'0'.repeat(25)}1` as const;
  const localPart = bounceLocalPart(app.returnAddressKey, { emailId, attemptedAt: app.clock.now() });
  knobs.result = { ...PASS, from: { addresses: [], fields: 0 } };
  assert.match(await sendMail(client, { from: '', to: `${localPart}@bounce.mx.postrider.example` }), /^250/);
  assert.match(await sendMail(client, { from: '', to: 'info@shop.example' }), /^550 5\.6\.0 /);
  knobs.result = PASS;
  const { id, tenantId } = await lastMessage();
  const [task] = (await world.tasks()).filter(({ messageId }) => messageId === id);
  assert.deepEqual([tenantId, task?.kind, task?.targetId], [null, 'bounce', emailId]);
});

test('a complaint whose signature cannot be verified now must come again', async () => {
  const client = await world.open();
  const { app, knobs } = world;
  const to = `${complaintLocalPart(app.returnAddressKey, { emailId: `em_${'0'.repeat(25)}1`, position: 0 })}@bounce.mx.postrider.example`;
  knobs.result = undecided('127.0.0.1', 'DNS does not answer');
  assert.match(await sendMail(client, { to }), /^451 4\.7\.0 /);
  const signature = {
    domain: 'big.example',
    selector: 's',
    algorithm: 'rsa-sha256',
    reason: '',
    isAligned: true,
  };
  knobs.result = { ...PASS, dkim: [{ ...signature, result: 'temperror' }] };
  assert.match(await sendMail(client, { to }), /^451 4\.7\.0 /);
  knobs.result = {
    ...PASS,
    dkim: [
      { ...signature, result: 'temperror' },
      { ...signature, result: 'pass' },
    ],
  };
  assert.match(await sendMail(client, { to }), /^250/);
  knobs.result = PASS;
});

test('messages that arrive at the same time do not take the space of the installation together', async () => {
  const before = files();
  const store = storeBytesOf(world.test);
  const client = await world.open();
  for (const line of ['MAIL FROM:<ann@sender.example>', 'RCPT TO:<postmaster@shop.example>'])
    assert.match(await client.ask(`${line}\r\n`), /^250/);
  const messages = (await world.messages()).length;
  store(INSTALLATION_TENANT, MAX_POSTMASTER_MEGABYTES * 1024 * 1024);
  assert.match(await client.ask('DATA\r\n'), /^354/);
  assert.match(await client.ask('Subject: a\r\n\r\nHi\r\n.\r\n'), /^452 4\.2\.2 /);
  assert.deepEqual([(await world.messages()).length, files()], [messages, before]);
  store(INSTALLATION_TENANT, 0);
});

test('a client that goes away within a message leaves nothing behind', async () => {
  const client = await world.open();
  const [before, rows] = [files(), (await world.messages()).length];
  await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  await client.ask('RCPT TO:<info@shop.example>\r\n');
  await client.ask('DATA\r\n');
  client.send(`Subject: x\r\n\r\n${'y'.repeat(70)}`);
  client.socket.destroy();
  await goneFrom(client);
  assert.deepEqual(files(), before);
  assert.equal((await world.messages()).length, rows);
  assert.equal(world.app.guards.memory.smtp.usedBytes, 0);
});

/** Waits until the server has seen that the client is gone: it answers the next one. */
async function goneFrom(client: TestClient): Promise<void> {
  await client.rest();
  const next = await world.open();
  await next.ask('QUIT\r\n');
}

test('overload is answered with 451 at MAIL, and a disk below its reserve with 452 at MAIL and before the data', async () => {
  const client = await world.open();
  overload = 'writer_lag';
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^451 4\.3\.2 /);
  overload = 'disk_reserve';
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^452 4\.3\.1 /);
  overload = undefined;
  await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  await client.ask('RCPT TO:<info@shop.example>\r\n');
  isBelowReserve = true;
  assert.match(await client.ask('DATA\r\n'), /^452 4\.3\.1 /);
  isBelowReserve = false;
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^250/);
});

test('a large message is given up when the disk falls below its reserve while it arrives, and leaves no bytes', async () => {
  const client = await world.open();
  const line = `${'x'.repeat(78)}\r\n`;
  const stored = await world.messages();
  await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  await client.ask('RCPT TO:<info@shop.example>\r\n');
  await client.ask('DATA\r\n');
  client.socket.write(`From: ann@sender.example\r\n\r\n${line.repeat(5_000)}`);
  isBelowReserve = true;
  assert.match(await client.ask(`${line.repeat(5_000)}.\r\n`), /^452 4\.3\.1 /);
  isBelowReserve = false;
  assert.deepEqual(await world.messages(), stored);
  assert.deepEqual(readdirSync(join(world.test.dataDir, 'blobs', 'partial')), []);
});

test('unknown recipients are refused with 550 5.1.1, and a client gets only ten lines in the log for them', async () => {
  const client = await world.open();
  world.lines.length = 0;
  await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  for (let index = 0; index < 8; index++) {
    const reply = await client.ask('RCPT TO:<nobody@shop.example>\r\n');
    assert.equal(reply, '550 5.1.1 <nobody@shop.example>: there is no such recipient here\r\n');
  }
  assert.match(await client.ask('RCPT TO:<nobody@elsewhere.example>\r\n'), /^550 5\.1\.1 /);
  const next = await world.open();
  for (let index = 0; index < 5; index++) await sendMail(next, { to: 'nobody@shop.example' });
  assert.equal(world.lines.length, 10);
  assert.deepEqual(world.lines[0], {
    from: 'ann@sender.example',
    to: ['nobody@shop.example'],
    client: '127.0.0.1',
    helo: 'mail.sender.example',
    tls: null,
    code: 550,
    enhancedCode: '5.1.1',
    diagnostic: '<nobody@shop.example>: there is no such recipient here',
    msg: 'mail refused',
  });
});

test('a message without a sender has one recipient', async () => {
  const client = await world.open();
  const to = ['info@shop.example', 'postmaster@shop.example'];
  assert.match(await sendMail(client, { from: '', to }), /^452 4\.5\.3 /);
  assert.match(await sendMail(client, { from: '', to: 'info@shop.example' }), /^250/);
  assert.match((await lastMessage()).trace, /^Return-Path: <>\r\n/);
});

test('a tenant whose plan allows no more mail is answered 452 4.2.2', async () => {
  await storePlan(world.app.db, 'unlimited', { storedMegabytes: 0 });
  const client = await world.open();
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^452 4\.2\.2 /);
  assert.match(await sendMail(client, { to: 'postmaster@shop.example' }), /^250/);
  await storePlan(world.app.db, 'unlimited');
});

test('one address may send a thousand messages at once, and then 50 in a second', async () => {
  const { smtpClients } = world.app.guards;
  while (smtpClients.take('127.0.0.1').allowed);
  const client = await world.open();
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^451 4\.7\.0 /);
  await world.clock.advance(21);
  assert.match(await sendMail(client, { to: 'info@shop.example' }), /^250/);
});

test('the metrics show verdicts, the time to accept, and the tasks that wait with their age', async () => {
  await world.clock.advance(5_000);
  const { text } = await world.app.metrics.show();
  assert.match(text, /^postrider_inbound_messages_total\{verdict="accepted"\} \d+$/m);
  assert.match(text, /^postrider_inbound_messages_total\{verdict="refused"\} 6$/m);
  assert.match(text, /^postrider_inbound_accept_duration_seconds_count \d+$/m);
  assert.match(text, /^postrider_smtp_sessions_total\{listener="smtp"\} \d+$/m);
  const waiting = (await world.tasks()).filter(({ kind }) => kind === 'post').length;
  assert.match(text, new RegExp(`^postrider_inbound_waiting_tasks\\{kind="post"\\} ${waiting}$`, 'm'));
  assert.match(text, /^postrider_inbound_oldest_task_seconds\{kind="post"\} 5\.\d+$/m);
});

test('a report or a bounce that is too large is refused when its size is declared, and otherwise after its data', async () => {
  const client = await world.open();
  const before = files();
  const to = 'reports@mx.postrider.example';
  assert.match(
    await client.ask(`MAIL FROM:<ann@sender.example> SIZE=${MAX_RETURNED_BYTES + 1}\r\n`),
    /^250 /,
  );
  assert.match(await client.ask(`RCPT TO:<${to}>\r\n`), /^552 5\.3\.4 /);
  assert.match(await client.ask('RCPT TO:<info@shop.example>\r\n'), /^250 /);
  await client.ask('RSET\r\n');
  const message = Buffer.alloc(MAX_RETURNED_BYTES, `${'x'.repeat(76)}\r\n`);
  message.write('A: b\r\n\r\n');
  assert.match(await sendMail(client, { to: [to, 'info@shop.example'], message }), /^552 5\.3\.4 /);
  assert.deepEqual(files(), before);
  assert.equal(world.app.guards.memory.smtp.usedBytes, 0);
  assert.match(await sendMail(client, { to: 'info@shop.example', message }), /^250 /);
});

test('a client is told 421 while the daemon stops', async () => {
  const client = await world.open();
  const closed = world.closeListener();
  assert.match(await client.reply(), /^421 4\.3\.2 /);
  await client.rest();
  await closed;
});
