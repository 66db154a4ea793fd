import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { FILE_SHARES, maxFilesOf, parseMaxOpenFiles, readMaxOpenFiles } from '../../src/system/open-files.ts';

const limits = (files: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\n` +
  `Max core file size        0                    unlimited            bytes\n` +
  `Max open files            ${files.padEnd(20)} 1048576              files\n`;

test('the limit that counts is read, and a process without one has no limit', () => {
  assert.equal(parseMaxOpenFiles(limits('65536')), 65_536);
  for (const text of [limits('unlimited'), ''])
    assert.equal(parseMaxOpenFiles(text), Number.POSITIVE_INFINITY);
});

test('the limit of this process is what the shell says of it', () => {
  const said = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  assert.equal(String(readMaxOpenFiles()), said.replace('unlimited', 'Infinity'));
});

test('the shares of the files leave some for everything else', () => {
  const shares = Object.values(FILE_SHARES);
  assert.ok(shares.reduce((sum, share) => sum + share, 0) < 0.9);
  assert.equal(maxFilesOf('smtp', 1_024), 204);
  assert.equal(maxFilesOf('smtp', Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});
