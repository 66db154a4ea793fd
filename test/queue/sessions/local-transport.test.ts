import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import type { LocalAnswer, LocalMessage } from '../../../src/queue/local-receiver.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { closeAfterEach } from '../../support/close-after.ts';
import { dialHosts } from '../../support/loopback.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { eventTypes, openSpool, SENDER_DOMAIN, type Spool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const closing = closeAfterEach();
const HOST = 'mx.postrider.example';
const SANDBOX = `sandbox.${HOST}`;
const HOUR_MS = 3_600_000;

type Received = Omit<LocalMessage, 'bytes'> & { raw: Buffer };
/** A spool whose local mail is in `received`. `answers` lists what is answered to each address; others are accepted. */
type World = Spool & { sink: SmtpSink; received: Received[]; answers: Map<string, LocalAnswer> };

const ACCEPTED: LocalAnswer = { phase: 'dot', code: 250, status: '2.0.0', text: 'Stored as in_1' };
const UNKNOWN: LocalAnswer = { phase: 'rcpt', code: 550, status: '5.1.1', text: 'No such recipient here' };
const FULL: LocalAnswer = { phase: 'rcpt', code: 452, status: '4.2.2', text: 'The mailbox is full' };
const LOOPING: LocalAnswer = { phase: 'dot', code: 554, status: '5.4.6', text: 'Too many hops' };

async function openWorld(): Promise<World> {
  const sink = closing(await startSmtpSink({ keepRaw: true }));
  const received: Received[] = [];
  const answers = new Map<string, LocalAnswer>();
  const spool = await openSpool({
    system: { dial: dialHosts({ '192.0.2.1': sink.port }) },
    async receiveLocally({ bytes, ...message }) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of bytes()) chunks.push(chunk);
      received.push({ ...message, raw: Buffer.concat(chunks) });
      return message.recipients.map((address) => answers.get(address) ?? ACCEPTED);
    },
  });
  spool.addZone(`${SENDER_DOMAIN} MX 10 ${HOST}`);
  spool.addZone('remote.example A 192.0.2.1');
  return closing({ ...spool, sink, received, answers });
}

test('mail to a domain that is received here stays here, in the bytes that a remote server gets, signed', async () => {
  const world = await openWorld();
  const local = `bob@${SENDER_DOMAIN}`;
  const id = await world.accept([local, 'cyd@remote.example'], { text: '.\r\n..\r\nGrüße\r\n' });
  await world.deliverDue();
  const [message] = world.received;
  const [remote] = world.sink.messages;
  assert.ok(message && remote?.raw && world.received.length === 1);
  assert.equal(message.raw.toString('latin1'), remote.raw.toString('latin1'));
  assert.match(message.raw.toString(), /^DKIM-Signature: .*\r\nDate: .*\r\n\r\n/s);
  assert.deepEqual(
    [message.recipients, message.sizeBytes, message.sender],
    [[local], message.raw.length, remote.mailFrom],
  );
  const email = await world.email(id);
  const [{ status, attempts, mx, tls }] = email.recipients;
  assert.deepEqual([status, attempts, mx, tls], ['delivered', 1, HOST, null]);
  assert.deepEqual(
    eventTypes(email).filter((type) => type === 'email.delivered'),
    ['email.delivered', 'email.delivered'],
  );
});

test('local mail brings the wishes of its sender, but for the report of the delivery, which the queue makes', async () => {
  const world = await openWorld();
  const id = await world.accept(`bob@${SENDER_DOMAIN}`);
  const side = openWriting(join(world.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare("UPDATE messages SET dsn = 'ENVID=QQ1' WHERE id = ?").run(id);
  side.prepare("UPDATE recipients SET dsn = 'NOTIFY=SUCCESS,DELAY' WHERE messageId = ?").run(id);
  side.close();
  await world.deliverDue();
  assert.deepEqual(world.received[0]?.dsn, { message: 'ENVID=QQ1', recipients: ['NOTIFY=DELAY'] });
});

test('a large message is handed over from its file, whole', async () => {
  const world = await openWorld();
  const content = Buffer.alloc(2_000_000, 'abc').toString('base64');
  await world.accept(`a@${SANDBOX}`, { attachments: [{ filename: 'a.bin', content }] });
  await world.deliverDue();
  const [message] = world.received;
  assert.ok(message && message.sizeBytes > 2_000_000);
  assert.equal(message.raw.length, message.sizeBytes);
});

test('each recipient has an answer of its own: an unknown one bounces and is suppressed, a full one is tried again', async () => {
  const world = await openWorld();
  const [good, unknown, full, looping] = ['good', 'unknown', 'full', 'looping'].map(
    (name) => `${name}@${SENDER_DOMAIN}`,
  ) as [string, string, string, string];
  for (const [address, answer] of [
    [unknown, UNKNOWN],
    [full, FULL],
    [looping, LOOPING],
  ] as const)
    world.answers.set(address, answer);
  const id = await world.accept([good, unknown, full, looping]);
  await world.deliverDue();
  const email = await world.email(id);
  const shown = email.recipients.map(
    ({ status, smtpCode, enhancedCode, diagnostic }: Record<string, unknown>) => [
      status,
      smtpCode,
      enhancedCode,
      diagnostic,
    ],
  );
  assert.deepEqual(shown, [
    ['delivered', 250, '2.0.0', '250 2.0.0 Stored as in_1'],
    ['bounced', 550, '5.1.1', '550 5.1.1 No such recipient here'],
    ['deferred', 452, '4.2.2', '452 4.2.2 The mailbox is full'],
    ['bounced', 554, '5.4.6', '554 5.4.6 Too many hops'],
  ]);
  for (const type of ['email.bounced', 'email.delivery_delayed', 'email.delivered'])
    assert.ok(eventTypes(email).includes(type), type);
  const { body } = await world.request('GET', '/v1/suppressions', { key: world.liveKey });
  const emails = body.data.map(({ email }: { email: string }) => email);
  assert.deepEqual(emails, [unknown]);
  world.answers.clear();
  await world.clock.advance(HOUR_MS);
  await world.deliverDue();
  const recipients = world.received.map(({ recipients }) => recipients);
  assert.deepEqual(recipients, [[good, unknown, full, looping], [full]]);
  const [, , retried] = (await world.email(id)).recipients;
  assert.deepEqual([retried.status, retried.attempts], ['delivered', 2]);
});

test('a receiver that fails defers the mail, and its text is not shown as a reply of a server', async () => {
  const world = await openWorld();
  const broken = await openSpool({ receiveLocally: () => Promise.reject(new Error('out of order')) });
  closing(broken);
  const id = await broken.accept(`a@${SANDBOX}`);
  await broken.deliverDue();
  const { status, smtpCode, diagnostic } = await broken.recipient(id);
  assert.deepEqual([status, smtpCode, diagnostic], ['deferred', null, 'Local error: out of order']);
  assert.equal(world.received.length, 0);
});

test('the sandbox, the return paths and tenants’ domains stay here; a domain that nobody receives is a loop as before', async () => {
  const world = await openWorld();
  const other = await world.addTenant('other');
  await world.addDomain(other.liveKey, 'theirs.example');
  world.addZone(`theirs.example MX 10 ${HOST}\nnobody.example MX 10 ${HOST}\n${HOST} A 192.0.2.9`);
  const here = [`a@${SANDBOX}`, `b+x@bounce.${HOST}`, 'a@theirs.example', `postmaster@${HOST}`];
  for (const address of here) await world.accept(address);
  const lost = await world.accept('a@nobody.example');
  const subdomain = await world.accept('a@www.theirs.example');
  await world.deliverDue();
  assert.deepEqual(world.received.flatMap(({ recipients }) => recipients).toSorted(), here.toSorted());
  const { status, enhancedCode, diagnostic } = await world.recipient(lost);
  assert.deepEqual([status, enhancedCode], ['bounced', '5.4.6']);
  assert.match(diagnostic, /which does not take its mail/);
  assert.equal((await world.recipient(subdomain)).enhancedCode, '5.1.2', 'a subdomain is another name');
});

test('a domain that is received here but whose MX is elsewhere goes there', async () => {
  const world = await openWorld();
  await world.addDomain(world.liveKey, 'elsewhere.example');
  world.addZone('elsewhere.example MX 10 remote.example');
  await world.accept('a@elsewhere.example');
  await world.deliverDue();
  assert.deepEqual([world.received.length, world.sink.messages.length], [0, 1]);
});

test('the return path of a verified domain stays here, and that of another does not', async () => {
  const world = await openWorld();
  world.addZone(`bounce.${SENDER_DOMAIN} CNAME bounce.${HOST}\nbounce.${HOST} MX 10 ${HOST}`);
  world.addZone(`bounce.${HOST} TXT "v=spf1 -all"\nbounce.other.example CNAME bounce.${HOST}`);
  const { data } = (await world.request('GET', '/v1/domains', { key: world.liveKey })).body;
  await world.request('POST', `/v1/domains/${data[0].id}/verify`, { key: world.liveKey });
  await world.accept(`b+x@bounce.${SENDER_DOMAIN}`);
  const foreign = await world.accept('b+x@bounce.other.example');
  await world.deliverDue();
  assert.equal(world.received.length, 1);
  assert.equal((await world.recipient(foreign)).enhancedCode, '5.4.6');
});

test('test mail arrives nowhere, whatever its address', async () => {
  const world = await openWorld();
  const addresses = [`a@${SANDBOX}`, `a@${SENDER_DOMAIN}`, `a@bounce.${HOST}`];
  for (const address of addresses) await world.accept(address, { key: world.testKey });
  await world.deliverDue();
  assert.equal(world.received.length, 0);
  const { data } = (await world.request('GET', '/v1/emails', { key: world.testKey })).body;
  assert.deepEqual(
    data.map(({ status }: { status: string }) => status),
    ['delivered', 'delivered', 'delivered'],
    'the simulator has delivered it',
  );
});

test('local mail of one tenant that hangs delays no other mail, and what is in progress at the end is not sent again', async () => {
  let asked = 0;
  const spool = closing(await openSpool());
  const id = await spool.accept(`a@${SANDBOX}`);
  const simulated = await spool.accept(`delivered@simulator.${HOST}`);
  const dispatcher = startDelivering(spool.app, () => {
    asked++;
    return new Promise(() => {});
  });
  await waitUntil(async () => asked === 1 && (await spool.recipient(simulated)).status === 'delivered');
  const stopped = dispatcher.stop(0);
  await spool.clock.advance(0);
  await stopped;
  const row = await spool.app.db.read
    .selectFrom('recipients')
    .select('state')
    .where('messageId', '=', id)
    .executeTakeFirstOrThrow();
  assert.equal(row.state, 'in_flight', 'its outcome is not known');
});
