import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDelivering } from '../../../src/queue/worker.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import type { Hosts } from '../../support/loopback.ts';
import { noReceiver, PACKAGED } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const HOUR_MS = 3_600_000;
const closing = closeAfterTests();

test('mail of a site that rests by a rule is not claimed, also after a restart, and one message tries it first', async () => {
  const hosts: Hosts = {};
  const spool = closing(await openRoutedSpool(hosts));
  let isBlocked = true;
  const server = await startCommandServer((line) =>
    isBlocked && line.startsWith('RCPT')
      ? '554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org'
      : acceptEverything(line),
  );
  hosts['192.0.2.1'] = closing(server).port;
  spool.addZone('rcpt.example A 192.0.2.1');
  await spool.acceptMany(5, 'rcpt.example');
  await spool.deliverDue();
  isBlocked = false;
  const id = await spool.accept('bob@rcpt.example');
  const delivering = startDelivering(spool.app, noReceiver, { replies: PACKAGED });
  await spool.clock.advance(HOUR_MS);
  const { queue } = (await spool.app.db.read
    .selectFrom('recipients')
    .select('queue')
    .where('messageId', '=', id)
    .executeTakeFirstOrThrow()) as { queue: string };
  await waitUntil(
    async () => (await delivering.explainWaiting([queue])).get(queue)?.firstAttempts?.reason === 'rest',
  );
  const { status, attempts } = await spool.recipient(id);
  assert.deepEqual([status, attempts], ['queued', 0]);
  const { events } = await spool.email(id);
  assert.deepEqual(
    events.map(({ type }: { type: string }) => type),
    ['email.queued'],
  );
  await spool.clock.advance(HOUR_MS);
  await spool.settled();
  assert.equal((await spool.recipient(id)).status, 'delivered');
  await delivering.stop(0);
});
