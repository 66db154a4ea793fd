/** Exchanges of a session with a server that mail is imported from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connectSource } from '../../src/mailbox-imports/source/connection.ts';
import { realClock } from '../../src/system/clock.ts';
import { HOST, sourceSystem, startScripted } from './fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a session keeps no results of its exchanges in memory', async (t) => {
  const port = await startScripted(t, () => undefined);
  const login = { host: HOST, port, security: 'tls', user: 'u', password: 'p', hasLoggedIn: false } as const;
  const connection = await connectSource(sourceSystem(realClock), login);
  t.after(() => connection.close());
  const limits = { maxBytes: 1_000, timeoutMs: 60_000 };
  const exchange = async () =>
    new WeakRef(await connection.exchange(limits, async () => Buffer.alloc(100_000)));
  const results = [await exchange(), await exchange()];
  await setImmediate();
  collectGarbage();
  assert.deepEqual(
    results.map((result) => result.deref() === undefined),
    [true, true],
  );
});
