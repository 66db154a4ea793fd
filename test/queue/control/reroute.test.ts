/** Rerouted mail is delivered by the hosts of its target. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import type { Hosts } from '../../support/loopback.ts';
import { act } from '../../support/queue-action.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
const HOUR_MS = 3_600_000;

/** Starts a server at an address of the zone. It records the recipients of the mail that it takes. */
async function startServer(address: string) {
  const recipients: string[] = [];
  const server = closing(
    await startCommandServer((line) => {
      const [, recipient] = /^RCPT TO:<(.*)>/.exec(line) ?? [];
      if (recipient !== undefined) recipients.push(recipient);
      return acceptEverything(line);
    }),
  );
  hosts[address] = server.port;
  return recipients;
}

test('mail that waits and mail that comes later are delivered to the target, and to the domain again after the end', async () => {
  spool.addZone(`old.example MX 10 mx.old.example\nmx.old.example A 192.0.2.1
backup.example MX 10 mx.backup.example\nmx.backup.example A 192.0.2.2`);
  const backup = await startServer('192.0.2.2');
  const waiting = await spool.accept('ann@old.example');
  await spool.deliverDue();
  assert.equal((await spool.recipient(waiting)).status, 'deferred');
  const reroute = await act(spool.app, 'reroute', { domain: 'old.example', target: 'backup.example' });
  assert.equal(reroute.changed, 1);
  const later = await spool.accept('bob@old.example');
  await spool.clock.advance(HOUR_MS);
  await spool.deliverDue();
  for (const id of [waiting, later]) {
    const { status, mx, email } = await spool.recipient(id);
    assert.deepEqual([status, mx], ['delivered', 'mx.backup.example'], email);
  }
  assert.deepEqual(backup.toSorted(), ['ann@old.example', 'bob@old.example']);

  const own = await startServer('192.0.2.1');
  await spool.clock.advance(1);
  await act(spool.app, 'reroute', { domain: 'old.example' });
  const last = await spool.accept('cid@old.example');
  await spool.deliverDue();
  assert.equal((await spool.recipient(last)).mx, 'mx.old.example');
  assert.deepEqual(own, ['cid@old.example']);
});
