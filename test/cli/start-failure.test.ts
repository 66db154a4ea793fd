import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/cli/errors.ts';
import { explainStartFailure } from '../../src/cli/start-failure.ts';
import { loadConfig } from '../../src/config.ts';

const CONFIG = loadConfig({ env: { POSTRIDER_DATA_DIR: '/srv/mail', POSTRIDER_HTTP_PORT: '80' } });

function explained(fields: { code?: string; syscall?: string; message?: string }): string {
  const error = Object.assign(new Error(fields.message ?? 'no'), fields);
  const result = explainStartFailure(error, CONFIG);
  return result instanceof CommandError ? result.message : `unexplained: ${result === error}`;
}

test('no permission is about the port when it was refused there, and else about the data directory', () => {
  assert.match(
    explained({ code: 'EACCES', syscall: 'listen' }),
    /^cannot listen on port 80 of 127\.0\.0\.1 /,
  );
  assert.match(
    explained({ code: 'EACCES', syscall: 'mkdir', message: "EACCES: permission denied, mkdir '/srv/mail'" }),
    /^cannot use the data directory \/srv\/mail \(EACCES: .+\): start as the user it belongs to, or set /,
  );
});

test('SQLite cannot open what another user made', () => {
  assert.match(explained({ code: 'SQLITE_CANTOPEN' }), /^cannot use the data directory /);
  assert.match(explained({ code: 'SQLITE_READONLY_DIRECTORY' }), /^cannot use the data directory /);
});

test('what nobody can act on stays as it is', () => {
  assert.equal(explained({ code: 'SQLITE_CORRUPT' }), 'unexplained: true');
  assert.equal(explained({ code: 'EMFILE', syscall: 'listen' }), 'unexplained: true');
  assert.equal(explained({}), 'unexplained: true');
});
