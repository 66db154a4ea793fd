import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { definingModules, unlistedOperations } from '../bin/unlisted-operations.ts';

/** Runs in a thread of its own, which has loaded nothing before, and posts every specifier that is resolved there. */
const PROBE = `
  import { registerHooks } from 'node:module';
  import { parentPort, workerData } from 'node:worker_threads';
  const specifiers = new Set();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      specifiers.add(specifier);
      return nextResolve(specifier, context);
    },
  });
  await import(workerData);
  parentPort.postMessage(specifiers);
`;

test('the threads of the database load no schemas and no HTTP server', async () => {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(PROBE)}`), {
    workerData: new URL('../src/operations.ts', import.meta.url).href,
  });
  const [specifiers] = (await once(thread, 'message')) as [Set<string>];
  assert.ok(specifiers.has('./emails/operations.ts'), 'the hook sees what is imported');
  const foreign = [...specifiers].filter((specifier) => !/^(?:\.|\/|node:|file:)/.test(specifier));
  // Of each thread they would take 0.1 s to start and 20 MB to keep.
  assert.deepEqual(foreign.sort(), ['kysely', 'lru-cache']);
});

test('every module that defines an operation is imported by operations.ts of its feature', () => {
  assert.ok(definingModules().length > 20);
  assert.deepEqual(unlistedOperations(), []);
});
