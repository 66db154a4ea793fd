import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIEVE_EXTENSIONS } from '../../../src/mail/sieve/extensions/table.ts';
import { errorsOf } from './fixture.ts';

test('every advertised extension can be required', () => {
  assert.deepEqual(
    SIEVE_EXTENSIONS.filter((name) => errorsOf(`require "${name}";`).length > 0),
    [],
  );
});
