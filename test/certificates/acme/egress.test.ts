/** Tests of what an order opens connections to, and when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTargetGuard } from '../../../src/system/blocklist.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openOrderingHost, ZONE } from './host.ts';

/** Real time for which nothing is ordered, in milliseconds. */
const HELD_MS = 1_000;

test('an authority at a private address is not connected to, however its directory is named', async () => {
  for (const directoryOf of [
    (port: string) => `http://127.0.0.1:${port}/directory`,
    (port: string) => `http://[::ffff:127.0.0.1]:${port}/directory`,
    (port: string) => `http://authority.example:${port}/directory`,
  ]) {
    await using host = await openOrderingHost({
      targets: createTargetGuard({ allow: [], own: [] }),
      directoryOf,
    });
    host.dns.setZone(`${ZONE}\nauthority.example A 127.0.0.1`);
    await host.updateNames();
    await host.run();
    assert.equal(host.authority.connections, 0);
    const row = await host.row();
    assert.match(row.lastError ?? '', /has no public address/);
    assert.equal(row.chain, null);
  }
});

test('a restored installation orders nothing before it is released, and then orders', async () => {
  await using host = await openOrderingHost();
  host.app.egress.hold();
  await host.updateNames();
  const running = host.startTasks();
  await host.clock.advance(3_600_000);
  // An order that was not held back would have asked for the directory by then.
  await sleep(HELD_MS);
  assert.deepEqual(host.authority.requests, []);
  assert.equal((await host.row()).chain, null);

  host.app.egress.release();
  host.app.wakeups.notify('tasks');
  await waitUntil(async () => (await host.row()).chain !== null, 'the order');
  await running.stop(10_000);
});
