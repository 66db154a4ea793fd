/** The limits of failed logins, whose names strangers choose. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createFailures } from '../../../src/mailboxes/passwords/failures.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const MEGABYTE = 1 << 20;

test('names of any length take little memory', () => {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  const failures = createFailures(createFakeClock(0), {
    perAccount: 2,
    perAddress: 1_000,
    periodSeconds: 600,
  });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 10; count++) {
    const attempt = { account: `${count} ${'x'.repeat(MEGABYTE)}`, address: '192.0.2.1' };
    assert.ok(failures.mayTry(attempt));
    failures.failed(attempt);
    failures.succeeded(attempt);
  }
  collect();
  assert.ok(process.memoryUsage().heapUsed - before < 2 * MEGABYTE);
});

test('an account whose failures are used up is refused everywhere but where its owner has logged in', () => {
  const clock = createFakeClock(0);
  const failures = createFailures(clock, { perAccount: 2, perAddress: 1_000, periodSeconds: 600 });
  failures.succeeded({ account: 'ann', address: '192.0.2.7' });
  for (let count = 0; count < 2; count++) failures.failed({ account: 'ann', address: '198.51.100.1' });
  assert.equal(failures.mayTry({ account: 'ann', address: '198.51.100.2' }), false);
  assert.equal(failures.mayTry({ account: 'ann', address: '192.0.2.7' }), true);
  assert.equal(failures.mayTry({ account: 'ben', address: '198.51.100.2' }), true);
});
