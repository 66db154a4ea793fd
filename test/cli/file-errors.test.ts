import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFileError } from '../../src/cli/file-errors.ts';
import { temporaryDirectory } from '../db/open.ts';

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

test('an error about a path says in plain words what is wrong with it', () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const missing = join(directory, 'none');
  assert.equal(
    explainFileError(errorOf(() => readFileSync(missing))),
    `${missing}: there is no such file or directory`,
  );
  assert.equal(
    explainFileError(errorOf(() => readFileSync(join(file, 'below')))),
    `${join(file, 'below')}: a part of the path is a file, not a directory`,
  );
  assert.equal(
    explainFileError(errorOf(() => readdirSync(file))),
    `${file}: a part of the path is a file, not a directory`,
  );
});

test('an error that is not about a path stays a bug', () => {
  assert.equal(explainFileError(new TypeError('x is undefined')), undefined);
  assert.equal(explainFileError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })), undefined);
  assert.equal(explainFileError(Object.assign(new Error('gone'), { code: 'ENOENT' })), undefined, 'no path');
});
