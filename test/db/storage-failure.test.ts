import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asRefusal,
  isBrokenStorage,
  isDamagedDatabase,
  isDiskFull,
  isRolledBackCommit,
  mayPass,
  recogniseQuota,
} from '../../src/db/storage-failure.ts';
import { AppError } from '../../src/system/errors.ts';
import { temporaryDirectory } from './open.ts';

const FULL = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'];
const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_CORRUPT_VTAB', 'SQLITE_NOTADB'];

function failure(code: string): Error {
  return Object.assign(new Error('from SQLite'), { code });
}

test('I/O errors end the process, in all their extended forms', () => {
  for (const code of [
    'SQLITE_IOERR',
    'SQLITE_IOERR_FSYNC',
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_DIR_FSYNC',
    'SQLITE_IOERR_TRUNCATE',
    'SQLITE_IOERR_SHMMAP',
    'SQLITE_IOERR_SHMOPEN',
    'SQLITE_IOERR_SHMSIZE_',
    'EIO',
  ]) {
    assert.equal(isBrokenStorage(code), true, code);
    assert.equal(isDiskFull(code), false, code);
    assert.equal(isDamagedDatabase(code), false, code);
  }
});

test('a damaged database is not a failed disk', () => {
  for (const code of DAMAGED) {
    assert.equal(isDamagedDatabase(code), true, code);
    assert.equal(isBrokenStorage(code), false, code);
  }
});

test('a failed COMMIT is a refusal only when it failed before the frame that commits', () => {
  for (const code of ['SQLITE_FULL', 'EDQUOT', 'SQLITE_BUSY', 'SQLITE_CONSTRAINT_FOREIGNKEY']) {
    assert.equal(isRolledBackCommit(code), true, code);
  }
  for (const code of ['SQLITE_IOERR_SHMSIZE', 'SQLITE_IOERR_FSYNC', 'SQLITE_NOMEM', 'SQLITE_ERROR', '']) {
    assert.equal(isRolledBackCommit(code), false, code);
  }
});

test('a write refused by a quota counts as a full disk, and one refused by the disk does not', () => {
  const file = `${temporaryDirectory()}/postrider.db`;
  const written = failure('SQLITE_IOERR_WRITE');
  const probe = (code: string) => () => {
    throw failure(code);
  };
  for (const code of ['EDQUOT', 'ENOSPC']) {
    const recognised = recogniseQuota(written, file, probe(code));
    assert.ok(recognised instanceof Error && 'code' in recognised && recognised.code === 'EDQUOT', code);
    assert.equal(recognised.cause, written);
  }
  assert.equal(recogniseQuota(written, file, probe('EIO')), written);
  assert.equal(recogniseQuota(written, file), written, 'there is room');
  const flushed = failure('SQLITE_IOERR_FSYNC');
  assert.equal(recogniseQuota(flushed, file, probe('EDQUOT')), flushed, 'a flush that failed stays one');
});

test('an error that may pass or can be mended is retried, and a bug is not', () => {
  for (const code of [
    'SQLITE_BUSY',
    'SQLITE_FULL',
    'SQLITE_IOERR_READ',
    'EMFILE',
    'ENFILE',
    'ENOSPC',
    'EIO',
  ]) {
    assert.equal(mayPass(failure(code)), true, code);
  }
  assert.equal(mayPass(new AppError('unavailable', 'Too many writes are waiting')), true);
  for (const error of [
    ...['SQLITE_CORRUPT', 'SQLITE_CONSTRAINT', 'ENOENT', 'ERR_INVALID_ARG_TYPE'].map(failure),
    new AppError('validation_error', 'The file is empty'),
    new TypeError('a bug'),
    null,
  ]) {
    assert.equal(mayPass(error), false, String(error));
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

test('errors of a full disk or a lock become refusals that can be retried, and other errors stay unchanged', () => {
  for (const code of [...FULL, 'SQLITE_BUSY']) {
    const error = failure(code);
    const refusal = asRefusal(error);
    assert.ok(refusal instanceof AppError && refusal.code === 'unavailable', code);
    assert.ok((refusal.options.retryAfterSeconds ?? 0) > 0);
    assert.equal(refusal.cause, error);
  }
  for (const error of [new Error('a bug'), Object.assign(new Error(), { code: 'SQLITE_CONSTRAINT' }), null]) {
    assert.equal(asRefusal(error), error);
  }
});
