import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/cli/errors.ts';
import { explainStartFailure } from '../../src/cli/start-failure.ts';
import { loadConfig } from '../../src/config.ts';

const CONFIG = loadConfig({ env: { POSTRIDER_DATA_DIR: '/srv/mail', POSTRIDER_HTTP_PORT: '80' } });

type Fields = { code?: string; syscall?: string; message?: string; file?: string; path?: string };

function explained(fields: Fields): string {
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
});

test('a storage failure is described with the file and with what to do', () => {
  for (const [code, message] of [
    ['SQLITE_NOTADB', /^\/srv\/mail\/postrider\.db is not a database: .+ put a backup in its place$/],
    ['SQLITE_CORRUPT', /^\/srv\/mail\/postrider\.db is damaged .+ put a backup in its place; "sqlite3 /],
    ['SQLITE_READONLY', /^\/srv\/mail\/postrider\.db cannot be written .+: see chown and chmod$/],
    ['SQLITE_READONLY_DIRECTORY', /^\/srv\/mail\/postrider\.db cannot be written /],
    ['SQLITE_FULL', /^the disk of \/srv\/mail is full \(SQLITE_FULL\)\. Free some space/],
    ['SQLITE_IOERR_SHMSIZE', /^the disk of \/srv\/mail is full /],
    ['ENOSPC', /^the disk of \/srv\/mail is full /],
    ['EDQUOT', /^the disk quota of \/srv\/mail is used up \(EDQUOT\)\. Raise the quota/],
    ['SQLITE_IOERR_READ', /^reading or writing \/srv\/mail\/postrider\.db failed .+ Check the disk/],
  ] as const) {
    assert.match(explained({ code }), message, code);
  }
});

test('the message is about the file that the error names', () => {
  const lock = explained({ code: 'SQLITE_NOTADB', file: '/srv/mail/lock.db' });
  assert.match(lock, /^\/srv\/mail\/lock\.db is damaged .+ delete it and start again$/);
  assert.match(
    explained({ code: 'EIO', path: '/srv/mail/blobs/ab' }),
    /writing \/srv\/mail\/blobs\/ab failed/,
  );
});

test('an error that the operator cannot act on stays unchanged', () => {
  assert.equal(explained({ code: 'SQLITE_CONSTRAINT' }), 'unexplained: true');
  assert.equal(explained({ code: 'EMFILE', syscall: 'listen' }), 'unexplained: true');
  assert.equal(explained({}), 'unexplained: true');
});
