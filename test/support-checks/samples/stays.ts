/** All tests end and the process does not: the first time, or every time, as `STAYS` says, which names a file or is `always`. */
import { existsSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';

const stays = process.env.STAYS ?? '';
const isFirst = stays === 'always' || !existsSync(stays);
if (stays !== 'always') writeFileSync(stays, '');

test('one that passes', () => {});
after(() => {
  if (isFirst) process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
