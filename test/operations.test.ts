import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

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
  assert.ok(specifiers.has('./emails/accept.ts'), 'the hook sees what is imported');
  const foreign = [...specifiers].filter((specifier) => !/^(?:\.|\/|node:|file:)/.test(specifier));
  // Of each thread they would take 0.1 s to start and 20 MB to keep.
  assert.deepEqual(foreign.sort(), ['kysely', 'lru-cache']);
});

test('every module that defines an operation is listed in operations.ts', () => {
  const root = new URL('../src/', import.meta.url);
  const listed = readFileSync(new URL('operations.ts', root), 'utf8');
  const defining = globSync('**/*.ts', { cwd: root.pathname })
    // The database's own threads import the operations of db/ themselves, and so do the threads of accounts theirs.
    .filter((file) => !file.startsWith('db/') && !file.startsWith('accounts/'))
    .filter((file) => /= define(?:Write|Read)\b/.test(readFileSync(new URL(file, root), 'utf8')));
  assert.ok(defining.length > 20, `${defining.length} modules are found`);
  assert.deepEqual(
    defining.filter((file) => !listed.includes(`'./${file}'`)),
    [],
  );
});
