import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBrokenStorage } from '../../src/db/storage-failure.ts';

test('I/O errors and corruption end the process, in all their extended forms', () => {
  for (const code of [
    'SQLITE_IOERR',
    'SQLITE_IOERR_FSYNC',
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_DIR_FSYNC',
    'SQLITE_CORRUPT',
    'SQLITE_CORRUPT_VTAB',
    'SQLITE_NOTADB',
  ]) {
    assert.equal(isBrokenStorage(code), true, code);
  }
});

test('a full disk, a lock and a broken rule do not end the process', () => {
  for (const code of [
    'SQLITE_FULL',
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
