import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const MODULE = new URL('../../../src/system/thread/young-generation.ts', import.meta.url).href;
const OLD_MEGABYTES = 64;

/** Prints the limit of the heap of a thread, in MB, whose limits are OLD_MEGABYTES and YOUNG_MEGABYTES. */
const PROGRAM = `
import { Worker } from 'node:worker_threads';
import { unbindThreadsFromFlag, YOUNG_MEGABYTES } from ${JSON.stringify(MODULE)};
if (process.argv.includes('unbind')) unbindThreadsFromFlag();
const limit = "require('node:worker_threads').parentPort.postMessage(require('node:v8').getHeapStatistics().heap_size_limit)";
new Worker(limit, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: ${OLD_MEGABYTES}, maxYoungGenerationSizeMb: YOUNG_MEGABYTES } })
  .on('message', (bytes) => console.log(bytes / 2 ** 20, YOUNG_MEGABYTES));
`;

test('the flag that bounds the main thread does not replace the limit of the others', async () => {
  const [bound, unbound] = await Promise.all([heapLimit([]), heapLimit(['unbind'])]);
  assert.equal(bound.limit, OLD_MEGABYTES + 3 * 16, 'the flag is what holds without the call');
  assert.ok(unbound.limit <= OLD_MEGABYTES + unbound.young, `${unbound.limit} MB`);
});

async function heapLimit(argv: string[]): Promise<{ limit: number; young: number }> {
  const flags = ['--max-semi-space-size=16', '--input-type=module', '--eval', PROGRAM, '--', ...argv];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const [limit = Number.NaN, young = Number.NaN] = stdout.trim().split(' ').map(Number);
  return { limit, young };
}
