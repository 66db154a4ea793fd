import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';

test('the threads of the database load no schemas and no HTTP server', async () => {
  const specifiers = new Set<string>();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      specifiers.add(specifier);
      return nextResolve(specifier, context);
    },
  });
  await import('../src/operations.ts');
  assert.ok(specifiers.has('./emails/accept.ts'), 'the hook sees what is imported');
  const foreign = [...specifiers].filter((specifier) => !/^(?:\.|\/|node:|file:)/.test(specifier));
  // Of each thread they would take 0.1 s to start and 20 MB to keep.
  assert.deepEqual(foreign.sort(), ['kysely', 'lru-cache']);
});
