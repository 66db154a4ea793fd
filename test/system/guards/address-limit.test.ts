import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SITE_FACTOR } from '../../../src/system/address-block.ts';
import { createAddressLimit } from '../../../src/system/guards/address-limit.ts';
import { createConnectionCounts } from '../../../src/system/guards/connection-counts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** Returns an address in the given network of a site. */
function addressIn(site: number, network: number): string {
  return `2001:db8:${site}:${network.toString(16)}::25`;
}

test('all networks of a site together have a rate of their own', async () => {
  const clock = createFakeClock(0);
  const limit = createAddressLimit(clock, { requestsPerSecond: 1, burst: 2 });
  const countAllowed = (networks: number, requestsEach: number): number => {
    let allowed = 0;
    for (let network = 0; network < networks; network++)
      for (let request = 0; request < requestsEach; request++)
        if (limit.take(addressIn(1, network)).allowed) allowed++;
    return allowed;
  };
  assert.equal(countAllowed(1_000, 1), 2 * SITE_FACTOR);
  assert.deepEqual(limit.take(addressIn(1, 1_001)), { allowed: false, retryAfterSeconds: 1 });
  assert.equal(limit.take(addressIn(2, 1)).allowed, true);
  await clock.advance(1_000);
  assert.equal(countAllowed(1_000, 1), SITE_FACTOR);
});

test('a network that is refused uses up nothing of what its site may ask for', () => {
  const limit = createAddressLimit(createFakeClock(0), { requestsPerSecond: 1, burst: 2 });
  for (let request = 0; request < 1_000; request++) limit.take(addressIn(1, 1));
  assert.equal(limit.take(addressIn(1, 2)).allowed, true);
});

test('IPv4 addresses that are neighbours have separate limits', () => {
  const limit = createAddressLimit(createFakeClock(0), { requestsPerSecond: 1, burst: 1 });
  const counts = createConnectionCounts(1);
  for (let host = 0; host < 200; host++) {
    assert.equal(limit.take(`192.0.2.${host}`).allowed, true);
    assert.ok(counts.take(`192.0.2.${host}`));
  }
});

test('all networks of a site together have a number of connections, and those that end free their place', () => {
  const counts = createConnectionCounts(2);
  const open: (() => void)[] = [];
  const connect = (site: number, network: number): boolean => {
    const release = counts.take(addressIn(site, network));
    if (release) open.push(release);
    return release !== undefined;
  };
  for (let network = 0; network < 1_000; network++)
    assert.equal(connect(1, network), network < 2 * SITE_FACTOR);
  assert.equal(connect(2, 1), true);
  open.shift()?.();
  assert.equal(connect(1, 2_000), true);
  assert.equal(connect(1, 2_001), false);
  assert.deepEqual([connect(2, 1), connect(2, 1)], [true, false]);
});

test('a network may ask while neither it nor its site has reached its limit, and asking whether it may counts nothing', () => {
  const limit = createAddressLimit(createFakeClock(0), { requestsPerSecond: 1, burst: 2 });
  const mayTake = (network: number) => limit.mayTake(addressIn(1, network));
  assert.deepEqual([mayTake(0), mayTake(0), mayTake(0)], [true, true, true]);
  for (let request = 0; request < 2; request++) limit.take(addressIn(1, 0));
  assert.deepEqual([mayTake(0), mayTake(1)], [false, true]);
  for (let network = 1; network < 2 * SITE_FACTOR; network++) limit.take(addressIn(1, network));
  assert.equal(mayTake(1_000), false);
  assert.equal(limit.mayTake(addressIn(2, 1)), true);
});
