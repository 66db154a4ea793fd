/** Installations that forward to each other, and one that forwards to itself. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createForwardWork } from '../../../src/inbound/forward/work.ts';
import { createLocalReceiver } from '../../../src/inbound/local.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { startWork } from '../../../src/system/worker.ts';
import { dialHosts, type Hosts } from '../../support/loopback.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { zoneDns } from '../../support/zone-dns.ts';
import { type MailWorld, openMailWorld, sendMail } from '../mail-world.ts';

const hosts: Hosts = {};
const system = {
  dns: zoneDns('one.example A 192.0.2.1\ntwo.example A 192.0.2.2'),
  dial: dialHosts(hosts),
};
const STOP_MS = 1_000;

/** Opens an installation that forwards the mail of its postmaster to this address, with running workers. */
async function openInstallation(hostname: string, postmaster: string): Promise<MailWorld> {
  const env = { POSTRIDER_HOSTNAME: hostname, POSTRIDER_INBOUND_POSTMASTER: postmaster };
  const world = await openMailWorld({ env, system });
  const workers = [
    startDelivering(world.app, createLocalReceiver(world.app)),
    startWork(world.app, createForwardWork(world.app)),
  ];
  after(() => Promise.all(workers.map((worker) => worker.stop(STOP_MS))));
  return world;
}

/** Lets the installations go on until nothing is queued and no task is pending. */
async function settle(...worlds: readonly MailWorld[]): Promise<void> {
  await waitUntil(async () => {
    for (const { clock } of worlds) await clock.advance(100);
    for (const { app } of worlds) {
      const { db } = app;
      const open = db.read
        .selectFrom('recipients')
        .select('id')
        .where('state', 'in', ['ready', 'in_flight', 'deferred']);
      const pending = db.read.selectFrom('receivedTasks').select('id').where('state', '=', 'pending');
      if ((await open.execute()).length + (await pending.execute()).length > 0) return false;
    }
    return true;
  }, 'everything has come to rest');
}

/** Returns the number of messages that came in and that were sent, and the errors of tasks. */
async function count(world: MailWorld) {
  const sent = await world.app.db.read.selectFrom('messages').select('status').execute();
  const tasks = await world.tasks();
  return {
    received: (await world.messages()).length,
    sent: sent.map(({ status }) => status),
    tasks: tasks.map(({ state, error }) => [state, error]),
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
  const senders = (await one.messages()).map(({ sender }) => sender);
  // The second forwarder names the first one and not its sender.
  assert.match(
    senders.join(),
    /^ann@sender\.example,SRS1=[0-9a-z]{8}=bounce\.one\.example==[^@]+@bounce\.two\.example$/,
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
});
