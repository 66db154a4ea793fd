/** Installations that forward to each other, and those that forward to themselves. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createForwardKind } from '../../../src/mailbox-delivery/forward/work.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { createLocalReceiver } from '../../../src/receiving/local.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { type MailWorld, openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { dialHosts, type Hosts } from '../../support/loopback.ts';
import { waitUntilInTime } from '../../support/wait-until.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const hosts: Hosts = {};
const system = {
  dns: zoneDns('one.example A 192.0.2.1\ntwo.example A 192.0.2.2\nshop.example MX 10 four.example'),
  dial: dialHosts(hosts),
};
const STOP_MS = 1_000;

/** Opens an installation that forwards the mail of its postmaster to this address, with running workers. */
async function openInstallation(hostname: string, postmaster: string): Promise<MailWorld> {
  const env = {
    POSTRIDER_HOSTNAME: hostname,
    POSTRIDER_INBOUND_POSTMASTER: postmaster,
    POSTRIDER_INBOUND_DMARC_REPORTS: 'true',
  };
  const world = await openMailWorld({ env, system });
  const workers = [
    startDelivering(world.app, createLocalReceiver(world.app)),
    startTasks(world.app, [createForwardKind(world.app)]),
  ];
  after(() => Promise.all(workers.map((worker) => worker.stop(STOP_MS))));
  return world;
}

/** Lets the installations go on until nothing is queued and no task is pending. */
async function settle(...worlds: readonly MailWorld[]): Promise<void> {
  const clocks = worlds.map(({ clock }) => clock);
  await waitUntilInTime(
    clocks,
    async () => {
      // A message can pass from the second one to the first while the second one is asked.
      for (const { app } of [...worlds, ...worlds]) {
        const { db } = app;
        const open = db.read
          .selectFrom('recipients')
          .select('id')
          .where('state', 'in', ['ready', 'in_flight', 'deferred']);
        const pending = db.read.selectFrom('receivedTasks').select('id').where('state', '=', 'pending');
        if ((await open.execute()).length + (await pending.execute()).length > 0) return false;
      }
      return true;
    },
    'everything has come to rest',
  );
}

/**
 * Returns the number of messages that came in and that were sent, and the errors of tasks, of which those without come first: what happens
 * in one millisecond of the clock has ids without an order.
 */
async function count(world: MailWorld) {
  const sent = await world.app.db.read.selectFrom('messages').select('status').execute();
  const tasks = await world.tasks();
  return {
    received: (await world.messages()).length,
    sent: sent.map(({ status }) => status),
    tasks: tasks.map(({ state, error }) => [state, error]).toSorted(),
  };
}

const LOOPS = ['failed', 'The message loops: it was forwarded from this address before'];
const MESSAGE = 'From: ann@sender.example\r\nSubject: Help\r\n\r\nHi\r\n';

test('two installations whose postmasters forward to each other stop after one round', async () => {
  const one = await openInstallation('one.example', 'postmaster@two.example');
  const two = await openInstallation('two.example', 'postmaster@one.example');
  Object.assign(hosts, { '192.0.2.1': one.port, '192.0.2.2': two.port });
  assert.match(await sendMail(await one.open(), { to: 'postmaster@one.example', message: MESSAGE }), /^250 /);
  await settle(one, two);
  assert.deepEqual(await count(one), { received: 2, sent: ['delivered'], tasks: [['done', null], LOOPS] });
  assert.deepEqual(await count(two), { received: 1, sent: ['delivered'], tasks: [['done', null]] });
  const senders = (await one.messages()).map(({ sender }) => sender).toSorted();
  // The second forwarder names the first one and not its sender.
  assert.match(
    senders.join(),
    /^SRS1=[0-9a-z]{8}=bounce\.one\.example==[^@]+@bounce\.two\.example,ann@sender\.example$/,
  );
});

test('a bounce goes round no further either, and nothing answers it', async () => {
  const three = await openInstallation('three.example', 'abuse@three.example');
  assert.match(
    await sendMail(await three.open(), { from: '', to: 'postmaster@three.example', message: MESSAGE }),
    /^250 /,
  );
  await settle(three);
  const { received, sent, tasks } = await count(three);
  assert.deepEqual([received, sent], [3, ['delivered', 'delivered']]);
  assert.deepEqual(tasks, [['done', null], ['done', null], LOOPS]);
  assert.ok((await three.messages()).every(({ sender }) => sender === ''));
  const traces = await three.app.db.read.selectFrom('messages').select('traceFields').execute();
  // The chain of the first set stays as it is: nobody has validated it since.
  assert.deepEqual(
    traces.map(({ traceFields }) => traceFields?.match(/^ARC-Seal: i=\d+; a=\S+ cv=\w+/gm) ?? []).toSorted(),
    [[], ['ARC-Seal: i=1; a=rsa-sha256; cv=none']],
  );
});

test('mail that is forwarded to a route of the same installation keeps its results and its flag', async () => {
  const four = await openInstallation('four.example', 'ops@shop.example');
  await four.addDomain('shop.example');
  await four.addRoute('ops@shop.example');
  const dmarc = {
    ...PASS.dmarc,
    result: 'fail',
    policy: 'quarantine',
    policyDomain: 'sender.example',
  } as const;
  four.knobs.result = { ...PASS, dmarc };
  assert.match(
    await sendMail(await four.open(), { to: 'postmaster@four.example', message: MESSAGE }),
    /^250 /,
  );
  await waitUntilInTime(
    [four.clock],
    async () => {
      return (await four.messages()).length === 2;
    },
    'the mail comes back',
  );
  const messages = await four.messages();
  const first = messages.find(({ tenantId }) => tenantId === null);
  const second = messages.find(({ tenantId }) => tenantId === four.test.tenantId);
  assert.ok(first && second);
  assert.deepEqual([second.remoteAddress, second.flagged, second.auth], ['', 1, first.auth]);
  const resultsOf = (trace: string) => /^Authentication-Results: .*?(?=^Received: )/ms.exec(trace)?.[0];
  assert.match(resultsOf(second.trace) ?? '', /dmarc=fail header\.from=sender\.example/);
  assert.equal(resultsOf(second.trace), resultsOf(first.trace));
  const { read } = four.app.db;
  const received = await read
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'email.received')
    .execute();
  const { flagged, auth } = JSON.parse(received[0]?.data ?? '');
  assert.deepEqual([flagged, auth.dmarc], [true, 'fail']);
  const observed = await read.selectFrom('dmarcObservations').select('messages').execute();
  assert.deepEqual(observed, [{ messages: 1 }], 'it is reported once');
});
