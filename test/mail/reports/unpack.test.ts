import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { MAX_UNPACKED_BYTES, unpack } from '../../../src/mail/reports/read.ts';
import { UnreadableDocumentError } from '../../../src/mail/xml.ts';
import { zipOf } from './fixtures.ts';

const LARGE = Buffer.alloc(MAX_UNPACKED_BYTES + 1, ' ');
const TEXT = Buffer.from('<feedback/>');

/** Returns why the bytes cannot be unpacked: the code of the library, or else our own message. */
function failureOf(bytes: Buffer): string {
  try {
    unpack(bytes);
  } catch (error) {
    assert.ok(error instanceof UnreadableDocumentError);
    return (error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.message;
  }
  return assert.fail('it was unpacked');
}

test('what is packed stops growing at the limit, in every form', () => {
  const stopped = 'ERR_BUFFER_TOO_LARGE';
  assert.equal(failureOf(gzipSync(LARGE)), stopped);
  assert.equal(failureOf(zipOf(LARGE)), stopped);
  assert.equal(failureOf(zipOf(LARGE, { method: 0 })), 'the report is too large');
  assert.equal(failureOf(LARGE), 'the report is too large');
  const largest = LARGE.subarray(1);
  for (const bytes of [gzipSync(largest), zipOf(largest), zipOf(largest, { method: 0 }), largest])
    assert.equal(unpack(bytes).length, MAX_UNPACKED_BYTES);
});

test('an archive must have its directory at the end, and a file where the directory says', () => {
  const zip = zipOf(TEXT);
  assert.deepEqual(unpack(zip), TEXT);
  assert.equal(failureOf(Buffer.concat([zip, Buffer.alloc(65_536)])), 'the archive has no end');
  assert.equal(failureOf(zip.subarray(0, 30)), 'the archive has no end');
  const directory = zip.indexOf('PK\u0001\u0002');
  for (const offset of [directory, 0]) {
    const changed = Buffer.from(zip);
    changed[offset + 3] = 9;
    assert.equal(failureOf(changed), 'the archive has no file', `${offset}`);
  }
});

test('a directory that ends early, or points outside, is no archive', () => {
  const zip = zipOf(TEXT);
  const directory = zip.indexOf('PK\u0001\u0002');
  for (const [offset, value] of [
    [zip.length - 6, zip.length - 4],
    [zip.length - 6, 0xffffffff],
    [directory + 42, zip.length],
  ] as const) {
    const changed = Buffer.from(zip);
    changed.writeUInt32LE(value, offset);
    assert.match(failureOf(changed), /^(?:ERR_OUT_OF_RANGE|the archive has no file)$/);
  }
});
