import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Spool } from '../../src/mailbox-imports/spool.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

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
