import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { INLINE_BYTES } from '../../src/blobs/blobs.ts';
import { NewFiles } from '../../src/blobs/new-files.ts';
import { openTestApp } from '../support/test-app.ts';

const test1 = await openTestApp();
after(() => test1.close());

test('the files of large blobs are known before a row can name them, and each is taken once', async () => {
  const { blobs } = test1.app;
  const prepare = (text: string) => blobs.prepare([Buffer.alloc(INLINE_BYTES + 1, text)]);
  assert.equal(blobs.takeNewFiles(), 'lost');
  await prepare('before');
  blobs.followFiles();
  await blobs.prepare([Buffer.from('small')]);
  const { sha256 } = await prepare('a');
  await prepare('a');
  assert.deepEqual(blobs.takeNewFiles(), [sha256]);
  assert.deepEqual(blobs.takeNewFiles(), []);
  blobs.followFiles(false);
  assert.equal(blobs.takeNewFiles(), 'lost');
});

test('files that nobody takes are given up until they are followed anew', () => {
  const files = new NewFiles(2);
  files.follow(true);
  for (const name of ['a', 'b', 'c', 'd']) files.add(name);
  assert.equal(files.take(), 'lost');
  assert.equal(files.take(), 'lost');
  files.follow(true);
  files.add('e');
  assert.deepEqual(files.take(), ['e']);
});
