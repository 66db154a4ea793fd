/**
 * Compares the verifier with mailauth, which is an independent one, on messages in every form that are signed, and then
 * changed or not. The two differ on purpose in these points, each of which has a test of its own (verify.test.ts):
 *
 * - A key that is missing or unusable is `neutral` in mailauth and `permerror` here: it is no error of syntax (RFC 8601
 *   section 2.7.1). Base64 that is malformed is `neutral` here, and `fail` in mailauth.
 * - A signature with `l=` for a part of the body passes in mailauth, with a remark; here it is `policy`, because anybody
 *   can add to such a body.
 * - An expired signature is `neutral` in mailauth, after its key was looked up; here it is `policy`, without a question.
 * - A selector may contain underscores here, as those of some senders do.
 * - Characters that are not base64 in `b=`, control characters among them, are ignored by mailauth and refused here.
 * - A signature field with white space before its name, in the first line, passes in mailauth and fails here.
 *
 * Bare CRs are left out, since the server refuses them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { nodeResolver } from '../../../support/node-resolver.ts';
import { ed25519TestKey, rsaTestKey, signTestMessage } from '../../../support/sign-message.ts';
import { zoneDns } from '../../../support/zone-dns.ts';
import { verifyTestMessage } from './verify-test-message.ts';

const RSA = rsaTestKey();
const ED25519 = ed25519TestKey();
const DNS = zoneDns(`
  rsa._domainkey.example.com     TXT "${RSA.record}"
  ed25519._domainkey.example.com TXT "${ED25519.record}"
`);
const NOW = Date.UTC(2026, 0, 1);

const space = fc.constantFrom(' ', '  ', '\t', ' \t ', '\r\n ', '\r\n\t ');
const word = fc.stringMatching(/^[!-~]{1,12}$/);
const text = fc
  .array(fc.tuple(word, space), { maxLength: 8 })
  .map((pairs) => pairs.map(([one, after]) => one + after).join(''));
const fieldName = fc.constantFrom(
  'From',
  'To',
  'Subject',
  'X-Test',
  'x-TEST',
  'Received',
  '__proto__',
  'constructor',
);
const field = fc
  .tuple(fieldName, space, text)
  .map(([name, before, value]) => `${name}:${before}${value}end\r\n`);
const line = fc.oneof(
  fc.constantFrom('', ' ', '\t', 'text', '. dot', 'two  spaces', 'trailing \t ', '\xe4\xff\0'),
  fc.string({ maxLength: 90 }).map((one) => one.replace(/[\r\n\u0080-\uffff]/g, '')),
);
const body = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\r\n'));
const message = fc
  .tuple(fc.array(field, { maxLength: 5 }), fc.array(field, { maxLength: 3 }), body)
  .map(
    ([above, below, content]) => `${above.join('')}From: <a@example.com>\r\n${below.join('')}\r\n${content}`,
  );
const names = fc.array(fieldName, { maxLength: 8 }).map((list) => ['from', ...list, 'From']);
const form = fc.constantFrom('simple/simple', 'simple/relaxed', 'relaxed/simple', 'relaxed/relaxed');
const key = fc.constantFrom(RSA, ED25519);

type Change = { at: number; kind: 'none' | 'insert' | 'remove' | 'replace' | 'duplicate'; text: string };
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  kind: fc.constantFrom('none', 'none', 'insert', 'remove', 'replace', 'duplicate'),
  text: fc.constantFrom(' ', '\t', '\r\n', '\n', '\r\n ', 'x', ':', ';', '=', 'A', '\0', '\x80'),
});

function apply(original: string, { at, kind, text: inserted }: Change): string {
  const index = Math.floor(at * original.length);
  switch (kind) {
    case 'none':
      return original;
    case 'insert':
      return original.slice(0, index) + inserted + original.slice(index);
    case 'remove':
      return original.slice(0, index) + original.slice(index + 1);
    case 'replace':
      return original.slice(0, index) + inserted + original.slice(index + 1);
    case 'duplicate':
      return original.slice(0, index) + original.slice(Math.max(index - 40, 0));
  }
}

/** Results that are no verification of the signature. The two do not always choose the same of them. */
const UNVERIFIED: readonly string[] = ['fail', 'neutral', 'permerror'];

/** Errors of syntax that mailauth overlooks. */
const STRICTER: readonly string[] = [
  'the signature has a syntax error',
  'b= is not base64',
  'bh= is not base64',
];

async function both(signed: string): Promise<{ ours: string[]; theirs: string[] }> {
  const outcomes = await verifyTestMessage(signed, { dns: DNS, clock: createFakeClock(NOW) });
  const { results } = await dkimVerify(Buffer.from(signed, 'latin1'), {
    resolver: nodeResolver(DNS),
    strict: true,
    curTime: new Date(NOW),
  });
  const named = (result: string) => (UNVERIFIED.includes(result) ? 'unverified' : result);
  const theirs = results.map(({ status }) => named(status.result)).filter((result) => result !== 'none');
  const ours = outcomes.map(({ result, reason }, index) =>
    STRICTER.includes(reason) && theirs[index] === 'pass' ? 'pass' : named(result),
  );
  return { ours, theirs };
}

test('our verifier and mailauth agree on every message that is signed, changed or not', async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(
      message,
      names,
      form,
      key,
      change,
      async (plain, signedNames, canonicalization, signer, edit) => {
        const signed = signTestMessage(plain, {
          key: signer,
          selector: signer === RSA ? 'rsa' : 'ed25519',
          canonicalization,
          names: signedNames,
        });
        const changed = `Received: by us\r\n${apply(signed, edit)}\r\n`;
        fc.pre(!/\r(?!\n)/.test(changed));
        const { ours, theirs } = await both(changed);
        assert.deepEqual(ours, theirs);
        if (ours[0] === 'pass') passed += 1;
      },
    ),
    { numRuns: 100 },
  );
  assert.ok(passed > 30, `only ${passed} signatures passed`);
});
