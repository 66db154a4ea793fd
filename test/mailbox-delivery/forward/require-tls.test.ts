/** A message with REQUIRETLS (RFC 8689) on its way through this installation: received over TLS, forwarded, delivered or not. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createNotificationKind } from '../../../src/mailbox-delivery/forward/notify.ts';
import { createForwardKind } from '../../../src/mailbox-delivery/forward/work.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { createLocalReceiver } from '../../../src/receiving/local.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { INSTALLATION_TENANT } from '../../../src/tenants/installation.ts';
import { openMailWorld, PASS } from '../../inbound/mail-world.ts';
import { GOOD_HOST, startRequireTlsServers } from '../../queue/sessions/require-tls-servers.ts';
import { dialHosts, type Hosts } from '../../support/loopback.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { waitUntil, waitUntilInTime } from '../../support/wait-until.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const TO = 'postmaster@mx.postrider.example';
/** The operator, whose domain is the name of the server that meets everything. */
const OPS = `ops@${GOOD_HOST}`;
const [GOOD, PLAIN, WITHOUT] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
const HOUR_MS = 3_600_000;
const STOP_MS = 1_000;

const { good, plain, withoutPort, close } = await startRequireTlsServers();
after(close);
const hosts: Hosts = { [GOOD]: good.port, [PLAIN]: plain.port, [WITHOUT]: withoutPort };
const dns = zoneDns('');
const world = await openMailWorld({
  env: { POSTRIDER_INBOUND_POSTMASTER: OPS },
  system: { dns, dial: dialHosts(hosts) },
});
const { app, clock } = world;
const sent = () => app.db.read.selectFrom('recipients').selectAll().orderBy('id').execute();
const workers = [startDelivering(app, createLocalReceiver(app)), startTasks(app, [createForwardKind(app)])];
after(() => Promise.all(workers.map((worker) => worker.stop(STOP_MS))));

/** Sends a message over TLS to the postmaster, whose mail goes to this host, and returns what became of it. */
async function forward(
  address: string,
  { from = 'ann@sender.example', option = ' REQUIRETLS', fields = '' } = {},
) {
  await clock.advance(HOUR_MS);
  dns.setZone(`${GOOD_HOST} A ${address}`);
  const { length } = await sent();
  const plainClient = await world.open();
  assert.match(await plainClient.ask('STARTTLS\r\n'), /^220 /);
  const client = await plainClient.encrypt();
  assert.match(await client.ask('EHLO mail.sender.example\r\n'), /REQUIRETLS/);
  assert.match(await client.ask(`MAIL FROM:<${from}>${option}\r\n`), /^250 /);
  for (const [command, reply] of [
    [`RCPT TO:<${TO}>`, /^250 /],
    ['DATA', /^354 /],
    [`${fields}From: ann@sender.example\r\nSubject: Help\r\n\r\nHi\r\n.`, /^250 /],
  ] as const)
    assert.match(await client.ask(`${command}\r\n`), reply);
  client.socket.destroy();
  await waitUntilInTime(
    [clock],
    async () => {
      const recipients = await sent();
      return (
        recipients.length === length + 1 &&
        recipients.every(({ state }) => state === 'delivered' || state === 'bounced')
      );
    },
    'the message was forwarded',
  );
  const { state, enhancedCode } = (await sent()).at(-1) ?? assert.fail();
  return `${state} ${enhancedCode}`;
}

test('it goes on to a server that proves its name over TLS and takes the requirement over', async () => {
  assert.match(await forward(GOOD), /^delivered /);
  const [message, ...more] = good.sessions.messages;
  assert.deepEqual([message?.sender.requireTls, message?.client.tls !== undefined], [true, true]);
  assert.equal(more.length, 0);
  const [row] = await world.messages();
  assert.equal(row?.requireTls, 1);
});

test('it fails at once where the next server offers no TLS or no REQUIRETLS, and nothing of it is sent', async () => {
  const { length } = good.sessions.messages;
  world.lines.length = 0;
  assert.equal(await forward(PLAIN), 'bounced 5.7.10');
  assert.equal(await forward(WITHOUT), 'bounced 5.7.30');
  assert.deepEqual([plain.messages.length, good.sessions.messages.length], [0, length]);
  const bounced = () => world.lines.filter(({ msg }) => msg === 'mail bounced');
  // A line is written after the commit.
  await waitUntil(() => bounced().length === 2, 'both bounces are logged');
  assert.deepEqual(
    bounced().map(({ to, tenantId, enhancedCode, attempt }) => [to, tenantId, enhancedCode, attempt]),
    ['5.7.10', '5.7.30'].map((code) => [OPS, INSTALLATION_TENANT, code, 1]),
  );
  const kept = await world.messages();
  assert.deepEqual(
    kept.map(({ blobId, requireTls }) => [blobId !== null, requireTls]),
    [1, 2, 3].map(() => [true, 1]),
  );
});

/** Makes the notifications that are due, waits for what becomes of them, and returns it. */
async function notify() {
  const { length } = await sent();
  await runDueTasks(app, createNotificationKind(app));
  await waitUntilInTime(
    [clock],
    async () => {
      const states = (await sent()).slice(length).map(({ state }) => state);
      return states.every((state) => state === 'delivered' || state === 'bounced');
    },
    'the notifications have ended',
  );
  return (await sent()).slice(length).map(({ address, state }) => [address, state]);
}

test('the sender is told of the failure, and the notification has the requirement only where it can be met', async () => {
  dns.setZone(`sender.example MX 10 ${GOOD_HOST}\n${GOOD_HOST} A ${GOOD}`);
  const told = ['ann@sender.example', 'delivered'];
  assert.deepEqual(await notify(), [told, told], 'nobody vouches for the name of the server');
  const unproven = good.sessions.messages.slice(-2).map(({ sender }) => [sender.address, sender.requireTls]);
  assert.deepEqual(unproven, [
    ['', false],
    ['', false],
  ]);
  const { length } = good.sessions.messages;
  const from = `ann@${GOOD_HOST}`;
  world.knobs.result = { ...PASS, spf: { ...PASS.spf, domain: GOOD_HOST } };
  assert.equal(await forward(PLAIN, { from }), 'bounced 5.7.10');
  world.knobs.result = PASS;
  dns.setZone(`${GOOD_HOST} A ${GOOD}`);
  assert.deepEqual(await notify(), [[from, 'delivered']]);
  const [{ sender } = assert.fail(), ...more] = good.sessions.messages.slice(length);
  assert.deepEqual([sender.address, sender.requireTls, more], ['', true, []]);
});

test('a bounce goes on without the requirement where it is not offered', async () => {
  const { length } = plain.messages;
  assert.match(await forward(PLAIN, { from: '' }), /^delivered /);
  assert.equal(plain.messages.length, length + 1);
});

test('a message with TLS-Required: No keeps this wish, unless it has the requirement too', async () => {
  const fields = 'TLS-Required: No\r\n';
  assert.match(await forward(PLAIN, { fields, option: '' }), /^delivered /);
  assert.equal(await forward(PLAIN, { fields }), 'bounced 5.7.10');
  const rows = await app.db.read.selectFrom('messages').select('requireTls').orderBy('id').execute();
  assert.deepEqual(
    rows.slice(-2).map(({ requireTls }) => requireTls),
    [2, 1],
  );
});

test('mail that does not ask for it goes to every server', async () => {
  const { length } = plain.messages;
  assert.match(await forward(PLAIN, { option: '' }), /^delivered /);
  assert.equal(plain.messages.length, length + 1);
  assert.match(await forward(GOOD, { option: '' }), /^delivered /);
  assert.equal(good.sessions.messages.at(-1)?.sender.requireTls, false);
});
