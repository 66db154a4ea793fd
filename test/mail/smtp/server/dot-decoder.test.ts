import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WireEncoder } from '../../../../src/mail/smtp/body.ts';
import { DotDecoder, OctetCheck } from '../../../../src/mail/smtp/server/dot-decoder.ts';

/** Cuts bytes at the given positions. The pieces are copies, since the decoder changes them. */
function cut(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...new Set(positions.map((position) => position % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end)));
}

function decode(pieces: readonly Buffer[]) {
  const decoder = new DotDecoder();
  const content: Buffer[] = [];
  const rest: Buffer[] = [];
  for (const piece of pieces) {
    if (decoder.excessBytes !== undefined) {
      rest.push(piece);
      continue;
    }
    content.push(decoder.next(piece));
    if (decoder.excessBytes !== undefined) rest.push(piece.subarray(piece.length - decoder.excessBytes));
  }
  return {
    content: Buffer.concat(content).toString('latin1'),
    rest: Buffer.concat(rest).toString('latin1'),
    hasEnded: decoder.excessBytes !== undefined,
    fault: decoder.fault,
  };
}

const positions = fc.array(fc.nat(200), { maxLength: 12 });
/** Text that is mostly made of what the decoder looks for. */
const octets = fc
  .array(fc.constantFrom('\r\n', '\r', '\n', '.', '.', 'a', '\r\n.', '\r\n..', '\u0000', '\u00ff'), {
    maxLength: 40,
  })
  .map((parts) => Buffer.from(parts.join(''), 'latin1'));
const lines = fc
  .array(fc.constantFrom('\r\n', '.', '..', 'a', '.\r\n', 'long line of text', '\n'), { maxLength: 40 })
  .map((parts) => Buffer.from(parts.join('')));

test('every message that is sent as the RFC says arrives as it was, however it is cut', () => {
  fc.assert(
    fc.property(lines, positions, (message, at) => {
      const canonical = Buffer.from(message.toString().replace(/(?<!\r)\n/g, '\r\n'));
      const encoder = new WireEncoder();
      const wire = Buffer.concat([
        encoder.next(Buffer.from(canonical)) ?? Buffer.alloc(0),
        Buffer.from(encoder.end() ?? ''),
      ]);
      const result = decode(cut(Buffer.concat([wire, Buffer.from('RSET\r\n')]), at));
      const text = canonical.toString();
      assert.deepEqual(result, {
        content: text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`,
        rest: 'RSET\r\n',
        hasEnded: true,
        fault: undefined,
      });
    }),
    { numRuns: 150 },
  );
});

test('any bytes are read in the same way, however they are cut', () => {
  // Which of several faults is named first may differ.
  const outcome = (pieces: readonly Buffer[]) => {
    const { fault, ...result } = decode(pieces);
    return { ...result, isRefused: fault !== undefined };
  };
  fc.assert(
    fc.property(octets, positions, (bytes, at) => {
      const whole = outcome([Buffer.from(bytes)]);
      assert.deepEqual(outcome(cut(bytes, at)), whole);
      assert.deepEqual(outcome([...bytes].map((byte) => Buffer.from([byte]))), whole);
    }),
    { numRuns: 150 },
  );
});

test('the message ends where a plain reading of the RFC ends it', () => {
  fc.assert(
    fc.property(octets, (bytes) => {
      const text = `\r\n${bytes.toString('latin1')}`;
      const end = text.indexOf('\r\n.\r\n');
      const { content, hasEnded, rest, fault } = decode([Buffer.from(bytes)]);
      assert.equal(hasEnded, end >= 0);
      if (!hasEnded) return;
      assert.equal(rest, text.slice(end + 5));
      const message = text.slice(2, end + 2);
      assert.equal(fault !== undefined, /\0|\r(?!\n)/.test(message));
      if (fault === undefined) assert.equal(content, message.replace(/(^|\r\n)\./g, '$1'));
    }),
    { numRuns: 250 },
  );
});

test('the octets of chunks are judged in the same way, however they are cut', () => {
  fc.assert(
    fc.property(octets, positions, (bytes, at) => {
      const check = new OctetCheck();
      for (const piece of cut(bytes, at)) check.next(piece);
      check.end();
      assert.equal(check.fault !== undefined, /\0|\r(?!\n)/.test(bytes.toString('latin1')));
    }),
    { numRuns: 150 },
  );
});
