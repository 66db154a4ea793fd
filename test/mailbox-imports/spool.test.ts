import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connectSource } from '../../src/mailbox-imports/source/connection.ts';
import { Spool } from '../../src/mailbox-imports/spool.ts';
import { realClock } from '../../src/system/clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { HOST, sourceSystem, startScripted } from './fixture.ts';

const MAX_BYTES = 10;

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

test('a message is in a file that its hash names, until the spool is cleared', async () => {
  const folder = join(temporaryDirectory('spool'), 'imports');
  const spool = new Spool(folder, MAX_BYTES);
  const spooled = (await spool.write(pieces('12345', '67890'))) ?? assert.fail();
  assert.equal(spooled.sizeBytes, MAX_BYTES);
  assert.equal(spooled.sha256, hash('sha256', '1234567890', 'hex'));
  assert.equal(readFileSync(spooled.path, 'utf8'), '1234567890');
  await spool.clear();
  assert.ok(!existsSync(folder));
  await spool.clear();
});

test('a message that is too large, or that does not come to its end, leaves no file', async () => {
  const folder = join(temporaryDirectory('spool'), 'imports');
  const spool = new Spool(folder, MAX_BYTES);
  assert.equal(await spool.write(pieces('1234567890', '1', 'never read')), undefined);
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('12');
    throw new Error('the connection is lost');
  }
  await assert.rejects(spool.write(broken()), /the connection is lost/);
  assert.deepEqual(readdirSync(join(folder, 'partial')), []);
});

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
