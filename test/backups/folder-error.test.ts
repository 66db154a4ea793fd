import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainFolderError } from '../../src/backups/folder-error.ts';
import { AppError } from '../../src/system/errors.ts';

test('a folder that the daemon may only read is named with what opens it, and other errors stay as they are', () => {
  const readOnly = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  const explained = explainFolderError(readOnly, '/mnt/backups');
  assert.ok(explained instanceof AppError && explained.cause === readOnly);
  assert.match(explained.message, /^\/mnt\/backups cannot be written, .*ReadWritePaths=/);
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  assert.equal(explainFolderError(full, '/mnt/backups'), full);
});
