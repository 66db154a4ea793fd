import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WireEncoder, wireFormOf } from '../../../src/mail/smtp/body.ts';

const bytes = fc
  .array(fc.constantFrom('.', '..', '\r\n', '\r\n.', 'a', '\r', '\n', 'é'), { maxLength: 30 })
  .map((parts) => Buffer.from(parts.join('')));

const crlfOnly = bytes.map((slice) =>
  Buffer.from(slice.toString('latin1').replace(/\r\n?|\n/g, '\r\n'), 'latin1'),
);

test('the dot at each line start is doubled, and no other', () => {
  fc.assert(
    fc.property(crlfOnly, (message) => {
      const text = message.toString('latin1');
      const form = wireFormOf(message);
      assert.equal(form?.bytes.toString('latin1'), text.replace(/^\./, '..').replace(/\n\./g, '\n..'));
      assert.equal(form.end, text === '' || text.endsWith('\n') ? '.\r\n' : '\r\n.\r\n');
    }),
    { numRuns: 250 },
  );
});

test('a message without such a dot is not copied', () => {
  const message = Buffer.from('a.b\r\nc.\r\n');
  assert.equal(wireFormOf(message)?.bytes, message);
});

test('a CR or LF outside CRLF is found', () => {
  fc.assert(
    fc.property(bytes, (slice) => {
      assert.equal(wireFormOf(slice) !== undefined, !/\r(?!\n)|(?<!\r)\n/.test(slice.toString('latin1')));
    }),
    { numRuns: 250 },
  );
});

test('the form on the wire is the same however the message is cut into chunks', () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60)), (whole, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const encoder = new WireEncoder();
      const sent: Buffer[] = [];
      for (const [index, end] of at.slice(1).entries()) {
        const chunk = encoder.next(whole.subarray(at[index], end));
        if (chunk === undefined) {
          assert.equal(wireFormOf(whole), undefined);
          return;
        }
        sent.push(chunk);
      }
      const end = encoder.end();
      assert.deepEqual(
        wireFormOf(whole),
        end === undefined ? undefined : { bytes: Buffer.concat(sent), end },
      );
    }),
    { numRuns: 250 },
  );
});

test('a message of some size that goes to many sites is encoded once', () => {
  const message = Buffer.from('.\r\n'.repeat(6_000));
  assert.equal(wireFormOf(message)?.bytes, wireFormOf(message)?.bytes);
});
