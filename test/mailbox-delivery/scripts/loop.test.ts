/** Mailboxes of two installations whose scripts send mail to each other, and answer it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createNotificationKind } from '../../../src/mailbox-delivery/forward/notify.ts';
import { createMailboxKind } from '../../../src/mailbox-delivery/work.ts';
import { createScriptRunner } from '../../../src/mailboxes/scripts/runner.ts';
import { activateScript, putScript } from '../../../src/mailboxes/scripts/store.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { createLocalReceiver } from '../../../src/receiving/local.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { SANDBOX } from '../../emails/fixtures.ts';
import { type MailWorld, openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { dialHosts, type Hosts } from '../../support/loopback.ts';
import { waitUntil, waitUntilInTime } from '../../support/wait-until.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const hosts: Hosts = {};
const system = {
  dns: zoneDns('one.example A 192.0.2.1\ntwo.example A 192.0.2.2\nrefusing.example MX 0 .'),
  dial: dialHosts(hosts),
};
const STOP_MS = 1_000;

type Installation = MailWorld & { stored: string[] };

/** Opens an installation with a mailbox that has this script, and with running workers. */
async function openInstallation(domain: string, address: string, script: string): Promise<Installation> {
  const world = await openMailWorld({ env: { POSTRIDER_HOSTNAME: domain }, system });
  const { app } = world;
  const stored: string[] = [];
  const scriptRunner = createScriptRunner(app);
  const mailboxDelivery = {
    listTargets: async () => [],
    readAnnotations: async () => [],
    async deliver({ deliveryId }: { deliveryId: string }) {
      stored.push(deliveryId);
      return { kind: 'delivered' } as const;
    },
  };
  const { id } = await addMailbox(world.test, { address });
  await app.db.commit(putScript, { mailboxId: id, name: 'rules', content: script, now: 1 });
  await app.db.commit(activateScript, { mailboxId: id, name: 'rules' });
  const workers = [
    startDelivering(app, createLocalReceiver(app)),
    startTasks(app, [
      createMailboxKind({ ...app, scriptRunner, mailboxDelivery }),
      createNotificationKind({ ...app, mailboxDelivery }),
    ]),
  ];
  after(async () => {
    await Promise.all(workers.map((worker) => worker.stop(STOP_MS)));
    await scriptRunner.close();
  });
  return { ...world, stored };
}

/** Lets the installations go on until nothing is queued and no task is pending. */
async function settle(...worlds: readonly MailWorld[]): Promise<void> {
  const clocks = worlds.map(({ clock }) => clock);
  await waitUntilInTime(
    clocks,
    async () => {
      // A message can pass from the second one to the first while the second one is asked.
      for (const { app } of [...worlds, ...worlds]) {
        const { read } = app.db;
        const open = read
          .selectFrom('recipients')
          .select('id')
          .where('state', 'in', ['ready', 'in_flight', 'deferred']);
        const pending = read.selectFrom('receivedTasks').select('id').where('state', '=', 'pending');
        if ((await open.execute()).length + (await pending.execute()).length > 0) return false;
      }
      return true;
    },
    'everything has come to rest',
  );
}

test('two mailboxes that redirect to each other stop after one round, and the message is kept', async () => {
  const one = await openInstallation('one.example', 'ann@one.example', 'redirect "bob@two.example";');
  const two = await openInstallation('two.example', 'bob@two.example', 'redirect "ann@one.example";');
  Object.assign(hosts, { '192.0.2.1': one.port, '192.0.2.2': two.port });
  const message = 'From: eve@sender.example\r\nTo: ann@one.example\r\nSubject: Hi\r\n\r\nHi\r\n';
  assert.match(await sendMail(await one.open(), { to: 'ann@one.example', message }), /^250 /);
  await settle(one, two);
  assert.deepEqual([(await one.messages()).length, (await two.messages()).length], [2, 1]);
  assert.deepEqual([one.stored.length, two.stored.length], [1, 0]);
});

test('two mailboxes that answer each other stop after one answer', async () => {
  const away = 'require "vacation"; vacation "Away.";';
  const [to, from] = [`carl@${SANDBOX}`, `dora@${SANDBOX}`];
  const three = await openInstallation(SANDBOX.replace('sandbox.', ''), to, away);
  const { id: mailboxId } = await addMailbox(three.test, { address: from });
  const { db } = three.app;
  await db.commit(putScript, { mailboxId, name: 'rules', content: away, now: 1 });
  await db.commit(activateScript, { mailboxId, name: 'rules' });
  const message = `From: ${from}\r\nTo: ${to}\r\nSubject: Hi\r\n\r\nHi\r\n`;
  assert.match(await sendMail(await three.open(), { from, to, message }), /^250 /);
  await settle(three);
  assert.equal((await three.messages()).length, 2, 'the message, and one answer');
  assert.equal(three.stored.length, 2);
});

test('a message that cannot be sent on comes back to its mailbox when nobody else is told', async () => {
  const to = 'ann@five.example';
  const five = await openInstallation('five.example', to, 'redirect "bob@refusing.example";');
  const dmarc = { ...PASS.dmarc, result: 'none' } as typeof PASS.dmarc;
  five.knobs.result = { ...PASS, spf: { ...PASS.spf, result: 'none' }, dmarc };
  const message = `From: eve@sender.example\r\nTo: ${to}\r\nSubject: Hi\r\n\r\nHi\r\n`;
  assert.match(await sendMail(await five.open(), { to, message }), /^250 /);
  await settle(five);
  await waitUntil(async () => {
    await five.clock.advance(10_000);
    return five.stored.length > 0;
  }, 'the message is stored');
  assert.match(five.stored.join(), /^em_[a-z0-9]+\/back$/);
});
