import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIN_PASSED_BYTES } from '../../../src/mail/connection/pieces.ts';
import {
  type ByteSource,
  type FramedCommand,
  Framing,
  type FramingLimits,
} from '../../../src/mail/imap/framing.ts';

const LIMITS: FramingLimits = { commandBytes: 200, literalBytes: 50 };

class SourceEnd extends Error {}

/** Bytes of a client in these pieces. A client that sends everything at once ignores what it is asked for. */
function sourceOf(pieces: readonly Buffer[]): ByteSource & { requests: number; unreadBytes(): number } {
  const queue = pieces.filter(({ length }) => length > 0);
  return {
    requests: 0,
    async read() {
      const piece = queue.shift();
      if (!piece) throw new SourceEnd();
      return piece;
    },
    unread(bytes) {
      if (bytes.length > 0) queue.unshift(bytes);
    },
    requestLiteral() {
      this.requests++;
    },
    unreadBytes: () => queue.reduce((sum, { length }) => sum + length, 0),
  };
}

/** Returns everything that the framing finds, one entry for each command and message. */
async function frames(pieces: readonly Buffer[], limits = LIMITS): Promise<string[]> {
  const found: string[] = [];
  const source = sourceOf(pieces);
  const framing = new Framing(source);
  try {
    for (let isInside = false; ; ) {
      const command: FramedCommand = isInside
        ? await framing.continueCommand(limits)
        : await framing.readCommand(limits);
      found.push(`${command.kind} ${command.bytes.toString('latin1')}`);
      isInside = command.kind === 'message';
      if (!isInside) continue;
      const content: Buffer[] = [];
      for await (const chunk of framing.readMessage()) content.push(chunk);
      found.push(`content ${Buffer.concat(content).toString('latin1')}`);
    }
  } catch (error) {
    assert.ok(error instanceof SourceEnd);
  }
  found.push(`${source.requests} requests`);
  return found;
}

const framesOf = (text: string): Promise<string[]> => frames([Buffer.from(text, 'latin1')]);

test('lines, literals in them, and messages of APPEND are found', async () => {
  assert.deepEqual(await framesOf('a NOOP\r\nb LOGIN {3}\r\nx\r\n "p"\r\n'), [
    'complete a NOOP',
    'complete b LOGIN {3}\r\nx\r\n "p"',
    '1 requests',
  ]);
  assert.deepEqual(await framesOf('a ID ("n" {2+}\r\nab {0+}\r\n)\r\n'), [
    'complete a ID ("n" {2+}\r\nab {0+}\r\n)',
    '0 requests',
  ]);
  assert.deepEqual(await framesOf('a APPEND INBOX {4}\r\nab\r\n (\\Seen) ~{2+}\r\ncd\r\nb NOOP\r\n'), [
    'message a APPEND INBOX {4}',
    'content ab\r\n',
    'message  (\\Seen) ~{2+}',
    'content cd',
    'complete ',
    'complete b NOOP',
    '1 requests',
  ]);
});

test('the name of the mailbox of APPEND may be a literal itself', async () => {
  assert.deepEqual(await framesOf('a append {5}\r\nINBOX {2+}\r\nxy\r\n'), [
    'message a append {5}\r\nINBOX {2+}',
    'content xy',
    'complete ',
    '1 requests',
  ]);
});

test('a bare LF ends a line too, and a brace within a line is no literal', async () => {
  assert.deepEqual(await framesOf('a NOOP\nb LIST "" {x}\r\nc LIST "" }\r\n'), [
    'complete a NOOP',
    'complete b LIST "" {x}',
    'complete c LIST "" }',
    '0 requests',
  ]);
});

test('a literal that is too large is never asked for, and is dropped when it comes anyway', async () => {
  assert.deepEqual(await framesOf('a LOGIN {51}\r\nb NOOP\r\n'), [
    'too large a LOGIN {51}',
    'complete b NOOP',
    '0 requests',
  ]);
  assert.deepEqual(await framesOf(`a LOGIN {51+}\r\n${'x'.repeat(51)} {3+}\r\nb N more\r\nc NOOP\r\n`), [
    'too large a LOGIN {51+}',
    'complete c NOOP',
    '0 requests',
  ]);
  assert.deepEqual(await framesOf(`a LOGIN {99999999999999999999}\r\nb NOOP\r\n`), [
    'too large a LOGIN {99999999999999999999}',
    'complete b NOOP',
    '0 requests',
  ]);
});

test('a line that is too long is read to its end, with the literals after it', async () => {
  const long = `a SEARCH ${'x'.repeat(300)}`;
  assert.deepEqual(await framesOf(`${long} {5+}\r\nb NO\n\r\nc NOOP\r\n`), [
    `too large ${long.slice(0, 200)}`,
    'complete c NOOP',
    '0 requests',
  ]);
  const many = `a SEARCH ${'{9+}\r\nxxxxxxxxx '.repeat(30)}\r\nb NOOP\r\n`;
  assert.deepEqual((await framesOf(many)).slice(1), ['complete b NOOP', '0 requests']);
});

test('a message that the session leaves is skipped, and is not asked for', async () => {
  const skipAfter = async (text: string, chunks: number) => {
    const source = sourceOf([...text].map((character) => Buffer.from(character)));
    const framing = new Framing(source);
    await framing.readCommand(LIMITS);
    const content = framing.readMessage();
    for (let left = chunks; left > 0; left--) await content.next();
    await framing.skipCommand();
    return { requests: source.requests, next: (await framing.readCommand(LIMITS)).bytes.toString() };
  };
  for (const [text, chunks, requests] of [
    ['a APPEND x {9}\r\nb NOOP\r\n', 0, 0],
    ['a APPEND x {9+}\r\n123456\r\n9 {3+}\r\nabc\r\nb NOOP\r\n', 0, 0],
    ['a APPEND x {9+}\r\n123456\r\n9 {3}\r\nb NOOP\r\n', 0, 0],
    ['a APPEND x {9}\r\n123456\r\n9\r\nb NOOP\r\n', 2, 1],
  ] as const)
    assert.deepEqual(await skipAfter(text, chunks), { requests, next: 'b NOOP' }, text);
});

const wireText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'a ',
        'APPEND ',
        'x',
        ' ',
        '\r\n',
        '\n',
        '\r',
        '"',
        '(',
        ')',
        '{',
        '}',
        '~',
        '\0',
        '\xff',
      ),
      fc.constantFrom(
        'a NOOP\r\n',
        'a APPEND INBOX ',
        '{3}\r\n',
        '{3+}\r\n',
        '~{2}\r\n',
        '{0}\r\n',
        '{70+}\r\n',
      ),
      fc.constant('y'.repeat(90)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.from(parts.join(''), 'latin1'));

test('the result does not depend on how the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(wireText, fc.array(fc.nat(20), { maxLength: 60 }), async (bytes, cuts) => {
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      pieces.push(bytes.subarray(at));
      assert.deepEqual(await frames(pieces), await frames([bytes]));
    }),
    { numRuns: 150 },
  );
});

test('whatever a client sends, a command holds no more than its limit', async () => {
  await fc.assert(
    fc.asyncProperty(wireText, async (bytes) => {
      for (const frame of await frames([bytes])) {
        if (!frame.startsWith('content '))
          assert.ok(frame.length <= LIMITS.commandBytes + 'too large '.length + 4);
      }
    }),
    { numRuns: 100 },
  );
});

test('a literal that comes byte by byte is held in few pieces', async () => {
  const bytes = Buffer.from(`a LOGIN {20000+}\r\n${'x'.repeat(20_000)}\r\n`);
  const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const [found] = await frames(pieces, { commandBytes: 30_000, literalBytes: 30_000 });
  assert.equal(found?.length, 'complete '.length + bytes.length - 2);
});

test('a command holds no more memory than its octets take', async () => {
  const command = await new Framing(sourceOf([Buffer.from('a IDLE\r\n')])).readCommand(LIMITS);
  assert.equal(command.bytes.toString(), 'a IDLE');
  assert.equal(command.bytes.buffer.byteLength, 'a IDLE'.length);
});

test('the octets of a message are passed on together, also when each comes by itself', async () => {
  const content = 'x'.repeat(MIN_PASSED_BYTES + 2);
  const octets = Buffer.from(`a APPEND INBOX {${content.length}+}\r\n${content}\r\n`);
  const framing = new Framing(sourceOf(Array.from(octets, (octet) => Buffer.of(octet))));
  await framing.readCommand(LIMITS);
  const sizes: number[] = [];
  for await (const { length } of framing.readMessage()) sizes.push(length);
  assert.deepEqual(sizes, [MIN_PASSED_BYTES, 2]);
});
