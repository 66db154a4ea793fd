import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeaderCollector } from '../../src/submission/message.ts';

/** Returns the header and the rest of a message that arrives in pieces of this size. */
function split(message: string, pieceBytes: number): string[] | undefined {
  const collector = new HeaderCollector();
  const bytes = Buffer.from(message);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const found = collector.add(bytes.subarray(at, at + pieceBytes));
    if (found) return [found.header.toString(), found.rest.toString()];
  }
  assert.equal(collector.whole().toString(), message);
  return undefined;
}

test('the empty line is found wherever the pieces are cut', () => {
  const message = 'Subject: Hi\r\nTo: bob\r\n\r\nHello\r\n\r\nBob\r\n';
  for (let size = 1; size <= message.length; size++) {
    const [header, rest] = split(message, size) ?? [];
    assert.equal(header, 'Subject: Hi\r\nTo: bob\r\n', `${size}`);
    assert.ok(message.slice(message.indexOf('Hello')).startsWith(rest ?? '-'), `${size}`);
  }
});

test('a message may have no header, no body, or nothing', () => {
  assert.deepEqual(split('\r\nHello\r\n', 100), ['', 'Hello\r\n']);
  assert.deepEqual(split('\r\nHello\r\n', 1), ['', '']);
  assert.equal(split('Subject: Hi\r\n', 3), undefined);
  assert.equal(split('', 1), undefined);
});

test('a header that is too large is refused before it has ended', () => {
  assert.throws(() => split('X: y\r\n'.repeat(50_000), 1_000), /too large/);
  assert.ok(split(`X: y\r\n\r\n${'x'.repeat(300_000)}`, 400_000));
});
