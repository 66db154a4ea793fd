import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asRefusal, isBrokenStorage, isDiskFull } from '../../src/db/storage-failure.ts';
import { AppError } from '../../src/system/errors.ts';

const FULL = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'];

test('I/O errors and corruption end the process, in all their extended forms', () => {
  for (const code of [
    'SQLITE_IOERR',
    'SQLITE_IOERR_FSYNC',
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_DIR_FSYNC',
    'SQLITE_IOERR_TRUNCATE',
    'SQLITE_IOERR_SHMMAP',
    'SQLITE_IOERR_SHMOPEN',
    'SQLITE_IOERR_SHMSIZE_',
    'SQLITE_CORRUPT',
    'SQLITE_CORRUPT_VTAB',
    'SQLITE_NOTADB',
    'EIO',
  ]) {
    assert.equal(isBrokenStorage(code), true, code);
    assert.equal(isDiskFull(code), false, code);
  }
});

test('a full disk, a lock and a broken rule do not end the process', () => {
  for (const code of [
    ...FULL,
    'SQLITE_BUSY',
    'SQLITE_CONSTRAINT_UNIQUE',
    'SQLITE_READONLY',
    'SQLITE_ERROR',
    'EIO_SQLITE_IOERR',
    '',
  ]) {
    assert.equal(isBrokenStorage(code), false, code);
  }
});

test('what a full disk and a lock refuse may be tried again later; any other error stays what it is', () => {
  for (const code of [...FULL, 'SQLITE_BUSY']) {
    const error = Object.assign(new Error('from SQLite'), { code });
    const refusal = asRefusal(error);
    assert.ok(refusal instanceof AppError && refusal.code === 'unavailable', code);
    assert.ok((refusal.options.retryAfterSeconds ?? 0) > 0);
    assert.equal(refusal.cause, error);
  }
  for (const error of [new Error('a bug'), Object.assign(new Error(), { code: 'SQLITE_CONSTRAINT' }), null]) {
    assert.equal(asRefusal(error), error);
  }
});
