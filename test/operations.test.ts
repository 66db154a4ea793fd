import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';

test('the threads of the database load no schemas and no HTTP server', async () => {
  const loaded: string[] = [];
  registerHooks({
    load(url, context, nextLoad) {
      loaded.push(url);
      return nextLoad(url, context);
    },
  });
  await import('../src/operations.ts');
  assert.ok(
    loaded.some((url) => url.endsWith('/src/emails/accept.ts')),
    'the hook sees what is loaded',
  );
  const foreign = loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  // Of each thread they would take 0.1 s to start and 20 MB to keep.
  assert.deepEqual([...new Set(foreign)].sort(), ['kysely', 'lru-cache']);
});
