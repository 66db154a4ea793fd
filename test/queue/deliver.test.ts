import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim } from '../../src/queue/claim.ts';
import { deliver } from '../../src/queue/deliver.ts';
import { NO_REPORT, verdictForAll } from '../../src/queue/outcome/outcome.ts';
import { Addresses } from '../../src/queue/sessions/addresses.ts';
import { connect } from '../../src/queue/sessions/connect.ts';
import { simulateDelivery } from '../../src/queue/sessions/decided-transport.ts';
import { transact } from '../../src/queue/sessions/transact.ts';
import { settle } from '../../src/queue/settle.ts';
import { type Attempt, notSent } from '../../src/queue/transport.ts';
import { recoverQueue } from '../../src/queue/worker.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { AppError } from '../../src/system/errors.ts';
import { closeAfterEach, closeAfterTests } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import { dialLoopback, type Hosts } from '../support/loopback.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import {
  attemptWith,
  deliverBy,
  deliveryAppOf,
  eventTypes,
  openSpool,
  type Spool,
} from '../support/spool.ts';
import { openRoutedSpool } from './routed-spool.ts';

const HOUR_MS = 3_600_000;
const closing = closeAfterEach();
const closingLast = closeAfterTests();

const hosts: Hosts = {};
/** The application of all tests in which the dispatcher delivers. Each test has a domain of its own. */
const shared = closingLast(await openRoutedSpool(hosts));

let domains = 0;

/** Adds a domain with one host, which is this port of this machine, or refuses connections. Returns its name. */
function addDomain(port?: number): string {
  domains += 1;
  const address = `192.0.2.${domains}`;
  if (port !== undefined) hosts[address] = port;
  const domain = `rcpt${domains}.example`;
  shared.addZone(`${domain} MX 10 mx.${domain}\nmx.${domain} A ${address}`);
  return domain;
}

/** Opens a spool that sends to this port of this machine, with the real dial behind the real guard. */
async function openLoopbackSpool(smtpPort: number): Promise<Spool> {
  const env = { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' };
  const spool = closing(await openSpool({ smtpPort, env, system: { dial: dialLoopback } }));
  spool.addZone('rcpt.example A 127.0.0.1');
  return spool;
}

const simulate = (spool: Spool) => async (claim: Claim) =>
  attemptWith(simulateDelivery(spool.app.config, claim));

/** Sends one claim in a session of its own, without the dispatcher. */
async function sendToLoopback(spool: Spool, claim: Claim): Promise<Attempt> {
  const hosts = [{ name: 'mx.rcpt.example', addresses: ['127.0.0.1'] }];
  const isPressed = () => false;
  const options = { claim, addresses: new Addresses(), deadline: Number.POSITIVE_INFINITY, isPressed };
  const connected = await connect(deliveryAppOf(spool.app), { hosts, relay: null, source: null }, options);
  if (connected.kind === 'closed') return notSent(claim, connected.outcome);
  const { session } = connected;
  const app = deliveryAppOf(spool.app);
  const transacted = await transact(app, session, { claim, isFirst: true, onReady() {}, isPressed });
  session.smtp.close();
  return { kind: 'evaluated', transactionMs: 0, ...transacted };
}

const openSink = async () => closing(await startSmtpSink({ keepRaw: true }));

/** Adds a domain whose mail server answers like this. Returns its name. */
async function addServer(answer: (line: string) => string | undefined): Promise<string> {
  return addDomain(closing(await startCommandServer(answer)).port);
}

const refusing = (verb: string, reply: string) => (line: string) =>
  line.startsWith(verb) ? reply : acceptEverything(line);

test('an email travels from the API to the receiving server, is signed, and has its events recorded', async () => {
  const sink = await openSink();
  const domain = addDomain(sink.port);
  const id = await shared.accept(`bob@${domain}`, {
    cc: `Carol <carol@${domain}>`,
    bcc: `dave@${domain}`,
  });
  assert.equal((await shared.email(id)).status, 'queued');
  await shared.deliverDue();
  const email = await shared.email(id);
  assert.equal(email.status, 'delivered');
  assert.equal(email.recipients[0].mx, `mx.${domain}`);
  assert.deepEqual(eventTypes(email).sort(), [
    ...Array(3).fill('email.delivered'),
    ...Array(3).fill('email.queued'),
    ...Array(3).fill('email.sent'),
  ]);
  const [message] = sink.messages;
  assert.equal(sink.messages.length, 1, 'one transaction for one domain');
  assert.deepEqual(message?.recipients, [`bob@${domain}`, `carol@${domain}`, `dave@${domain}`]);
  assert.match(message?.mailFrom ?? '', /^b\+[0-9a-z]{54}@bounce\.mx\.postrider\.example$/);
  const raw = message?.raw?.toString() ?? '';
  assert.match(raw, /^DKIM-Signature: /);
  assert.match(raw, /d=sender\.example/);
  assert.ok(raw.includes(`\r\nTo: bob@${domain}\r\nCc: Carol <carol@${domain}>\r\n`));
  assert.ok(!raw.includes('dave@'), 'bcc stays hidden');
  assert.equal(email.messageId, message?.messageId);
});

test('a refused recipient bounces and is suppressed; the others are delivered', async () => {
  const domain = await addServer(refusing('RCPT TO:<bad@', '550 5.1.1 no such user'));
  const id = await shared.accept([`good@${domain}`, `bad@${domain}`]);
  await shared.deliverDue();
  const email = await shared.email(id);
  assert.deepEqual(
    email.recipients.map((recipient: { status: string }) => recipient.status),
    ['delivered', 'bounced'],
  );
  assert.equal(email.recipients[1].enhancedCode, '5.1.1');
  const again = await shared.request('POST', '/v1/emails', {
    key: shared.liveKey,
    body: { from: 'a@sender.example', to: `BAD@${domain}`, subject: 's', text: 't', type: 'transactional' },
  });
  assert.deepEqual([again.status, again.body.error.type], [422, 'suppressed_recipient']);
  const partly = await shared.email(await shared.accept([`bad@${domain}`, `other@${domain}`]));
  assert.equal(partly.recipients[0].status, 'suppressed');
  assert.ok(eventTypes(partly).includes('email.suppressed'));
});

for (const [verb, reply] of [
  ['RCPT', '550 5.7.1 blocked for your reputation'],
  ['MAIL', '550 5.1.8 sender refused'],
  ['RCPT', '552 5.2.2 mailbox full'],
] as const) {
  test(`"${reply}" bounces without suppressing`, async () => {
    const to = `bob@${await addServer(refusing(verb, reply))}`;
    const id = await shared.accept(to);
    await shared.deliverDue();
    assert.equal((await shared.email(id)).status, 'bounced');
    await shared.accept(to);
  });
}

test('a deferral is retried on schedule, reported once in four hours, and expires as a transient bounce', async () => {
  const to = `bob@${await addServer(refusing('RCPT', '450 4.2.0 greylisted'))}`;
  const id = await shared.accept(to);
  await shared.deliverDue();
  const first = await shared.email(id);
  assert.deepEqual([first.status, first.recipients[0].status], ['sent', 'deferred']);
  await shared.deliverDue();
  assert.equal((await shared.recipient(id)).attempts, 1, 'not due yet');
  await shared.clock.advance(60_000);
  await shared.deliverDue();
  assert.equal((await shared.recipient(id)).attempts, 2, 'due after a minute');
  for (let round = 0; round < 60; round++) {
    await shared.clock.advance(HOUR_MS);
    await shared.deliverDue();
  }
  const last = await shared.email(id);
  assert.equal(last.status, 'bounced');
  assert.equal(last.recipients[0].enhancedCode, '4.4.7');
  assert.match(last.recipients[0].diagnostic, /greylisted/);
  const bounced = await shared.app.db.read
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'email.bounced')
    .where('emailId', '=', id)
    .executeTakeFirstOrThrow();
  const { bounce } = JSON.parse(bounced.data);
  assert.deepEqual([bounce.type, bounce.subType, bounce.source], ['transient', 'General', 'smtp']);
  const delays = eventTypes(last).filter((type) => type === 'email.delivery_delayed').length;
  assert.ok(delays >= 8 && delays <= 12, `${delays} wakeups in 48 hours`);
  await shared.accept(to);
});

test('mail bounces for a domain that is missing in two lookups an hour apart and for a null MX, but never because DNS fails', async () => {
  shared.addZone('null.example MX 0 .\nnohost.example MX 10 mx.gone.example');
  for (const name of ['servfail.example', 'refused.example', 'timeout.example'])
    shared.dns.fail(name, 'SERVFAIL');
  const ids = await Promise.all(
    ['servfail.example', 'refused.example', 'timeout.example', 'nohost.example'].map((domain) =>
      shared.accept(`a@${domain}`),
    ),
  );
  const missing = await shared.accept('a@missing.example');
  const nullMx = await shared.accept('a@null.example');
  await shared.deliverDue();
  assert.equal((await shared.recipient(nullMx)).enhancedCode, '5.1.10');
  assert.equal((await shared.email(nullMx)).status, 'bounced');
  assert.equal((await shared.email(missing)).status, 'sent', 'the first NXDOMAIN is no verdict');
  await shared.clock.advance(HOUR_MS);
  await shared.deliverDue();
  assert.equal((await shared.email(missing)).status, 'bounced');
  for (const id of ids) assert.equal((await shared.email(id)).status, 'sent');
});

test('an internal domain is deferred in the same words as one without an address, and only public hosts are dialled', async () => {
  const dialled: string[] = [];
  const spool = closing(
    await openSpool({
      system: {
        targets: createTargetGuard({ allow: ['127.0.0.2/32'], own: [] }),
        dial: ({ address }) => {
          dialled.push(address);
          return Promise.reject(new Error('nobody listens'));
        },
      },
    }),
  );
  spool.addZone(`
    inside.example  MX    10 mx.inside.example
    nowhere.example MX    10 mx.nowhere.example
    mixed.example   MX    10 mx.inside.example
    mixed.example   MX    20 mx.mixed.example
    mx.inside.example  A    10.0.0.1
    mx.inside.example  AAAA fd00::1
    mx.nowhere.example TXT  "x"
    mx.mixed.example   A    127.0.0.1
    mx.mixed.example   A    127.0.0.2
    bare.example       A    192.168.0.1
  `);
  const said = async (domain: string) => {
    const id = await spool.accept(`a@${domain}`);
    await spool.deliverDue();
    const [{ status, diagnostic }] = (await spool.email(id)).recipients;
    return [status, diagnostic?.replace(`mx.${domain}`, 'HOST').replace(domain, 'HOST')];
  };
  const neutral = ['deferred', 'DNS: HOST: has no public address'];
  assert.deepEqual(await said('inside.example'), neutral);
  assert.deepEqual(await said('nowhere.example'), neutral);
  assert.deepEqual(await said('bare.example'), neutral);
  assert.deepEqual(dialled, []);
  await said('mixed.example');
  assert.deepEqual([...new Set(dialled)], ['127.0.0.2']);
});

test('a wall clock that jumps ahead does not end the leases of mail in flight', async () => {
  const spool = closing(await openSpool());
  const id = await spool.accept('bob@rcpt.example');
  await spool.claim();
  const { clock } = spool.app;
  const ahead = { ...clock, now: () => clock.now() + 24 * HOUR_MS };
  await recoverQueue({ ...spool.app, clock: ahead });
  const [recipient] = await spool.app.db.read
    .selectFrom('recipients')
    .select(['state', 'interruptedAttempts'])
    .where('messageId', '=', id)
    .execute();
  assert.deepEqual(recipient, { state: 'in_flight', interruptedAttempts: 0 });
});

test('an attempt whose lease belongs to another start no longer changes anything', async () => {
  const spool = closing(await openSpool());
  const id = await spool.accept('bob@rcpt.example');
  const now = spool.clock.now();
  const [delivery] = await spool.claim('old');
  await recoverQueue({ ...spool.app, runId: 'new' });
  const recipientId = delivery?.recipients[0]?.id;
  assert.ok(recipientId);
  await spool.app.db.commit(settle, {
    site: 'test',
    messageId: id,
    runId: 'old',
    now,
    durationMs: 1,
    signature: null,
    conversation: null,
    results: [
      {
        recipientId,
        attempts: 1,
        retryDelayMs: 0,
        verdict: { outcome: { kind: 'delivered', report: { ...NO_REPORT, phase: 'dot', text: 'ok' } } },
      },
    ],
  });
  assert.equal((await spool.email(id)).status, 'sent');
});

test('an attempt without a transaction took as long as it did, and one with a transaction the time of that', async () => {
  const spool = closing(await openSpool());
  const { app, clock } = spool;
  const DEFERRED = {
    kind: 'deferred',
    report: { ...NO_REPORT, phase: 'connect', text: 'no answer' },
  } as const;
  const connectInVain = async (claim: Claim) => {
    await clock.advance(30_000);
    return notSent(claim, DEFERRED);
  };
  const transactFast = async (claim: Claim): Promise<Attempt> => {
    await clock.advance(2_000);
    return { ...attemptWith(verdictForAll(claim, DEFERRED)), transactionMs: 40 };
  };
  const fail = async () => {
    await clock.advance(3_000);
    throw new AppError('unavailable', 'the threads are busy');
  };
  for (const [open, transact, tookMs] of [
    [connectInVain, fail, 30_000],
    [async () => undefined, transactFast, 40],
    [async () => undefined, fail, 3_000],
  ] as const) {
    const id = await spool.accept('bob@rcpt.example');
    const [claim = assert.fail()] = await spool.claim();
    await deliver(deliveryAppOf(app), claim, { transport: { open, transact }, onReady() {}, putBack() {} });
    const attempts = app.db.read.selectFrom('attempts').select('durationMs');
    const attempt = await attempts.where('messageId', '=', id).execute();
    assert.deepEqual(attempt, [{ durationMs: tookMs }]);
  }
});

test('a resend after a crash is byte-identical', async () => {
  const sink = await openSink();
  const spool = await openLoopbackSpool(sink.port);
  await spool.accept('bob@rcpt.example');
  for (const runId of ['one', 'two']) {
    await spool.clock.advance(10_000);
    // Settled under another start's name: as lost as after a crash.
    for (const claim of await spool.claim(runId)) {
      await deliverBy({ ...spool.app, runId: 'crashed' }, claim, (it) => sendToLoopback(spool, it));
    }
    await recoverQueue({ ...spool.app, runId: `after ${runId}` });
  }
  const [first, second] = sink.messages;
  assert.ok(first?.raw && second?.raw);
  assert.deepEqual(second.raw, first.raw);
});

test('a test key never opens a socket', async () => {
  const to = `bob@${addDomain()}`;
  const id = await shared.accept(to, { key: shared.testKey, from: 'a@sandbox.mx.postrider.example' });
  shared.dialled.length = 0;
  await shared.deliverDue();
  const email = (await shared.request('GET', `/v1/emails/${id}`, { key: shared.testKey })).body;
  assert.deepEqual([email.status, email.mode, shared.dialled], ['delivered', 'test', []]);
});

test('an address suppressed after the mail was accepted is not delivered to', async () => {
  const domain = addDomain();
  const id = await shared.accept(`bob@${domain}`);
  await shared.request('POST', '/v1/suppressions', {
    body: { email: `BOB@${domain}`, reason: 'complaint' },
  });
  shared.dialled.length = 0;
  await shared.deliverDue();
  const email = await shared.email(id);
  assert.deepEqual([email.status, email.recipients[0].status, shared.dialled], ['bounced', 'suppressed', []]);
  assert.ok(eventTypes(email).includes('email.suppressed'));
});

test('a delivery that fails because of an internal error is deferred, not lost in flight', async () => {
  const spool = closing(await openSpool());
  spool.addZone('rcpt.example A 192.0.2.1');
  const id = await spool.accept('bob@rcpt.example');
  for (const claim of await spool.claim()) {
    await deliverBy(spool.app, claim, () => Promise.reject(new Error('the key does not open')));
  }
  const recipient = await spool.recipient(id);
  assert.deepEqual(
    [recipient.status, recipient.diagnostic],
    ['deferred', 'Local error: the key does not open'],
  );
});

test('an outcome that cannot be stored at once is stored later, not thrown away', async () => {
  const spool = closing(await openSpool());
  const id = await spool.accept('delivered@simulator.mx.postrider.example');
  const claimed = await spool.claim();
  let refusals = 2;
  const db: typeof spool.app.db = {
    ...spool.app.db,
    commit: (write, input) =>
      refusals-- > 0
        ? Promise.reject(new AppError('unavailable', 'full'))
        : spool.app.db.commit(write, input),
  };
  const done = Promise.all(claimed.map((claim) => deliverBy({ ...spool.app, db }, claim, simulate(spool))));
  for (let step = 0; step < 10; step++) await spool.clock.advance(1_000);
  await done;
  assert.equal((await spool.email(id)).status, 'delivered');
});

test('a recipient whose lease expires is put back, and the old attempt no longer changes anything', async () => {
  const spool = closing(await openSpool());
  const id = await spool.accept('delivered@simulator.mx.postrider.example');
  const [first] = await spool.claim();
  assert.ok(first);
  await spool.clock.advance(2 * HOUR_MS);
  await recoverQueue(spool.app);
  await spool.claim();
  await deliverBy(spool.app, first, simulate(spool));
  const email = await spool.email(id);
  assert.deepEqual([email.status, email.recipients[0].attempts], ['sent', 2]);
});
