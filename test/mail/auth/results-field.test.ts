import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AuthenticationResult, undecided } from '../../../src/mail/auth/result.ts';
import { formatLocalResultsField, formatResultsField } from '../../../src/mail/auth/results-field.ts';
import { anyCharacter } from '../../support/any-character.ts';

const PASSED: AuthenticationResult = {
  address: '192.0.2.1',
  spf: { result: 'pass', domain: 'bounce.example.com', reason: '' },
  heloSpf: { result: 'none', domain: 'mail.example.com', reason: 'no record' },
  dkim: [
    {
      result: 'pass',
      domain: 'example.com',
      selector: 's1',
      algorithm: 'rsa-sha256',
      reason: '',
      isAligned: true,
    },
  ],
  dmarc: { result: 'pass', policy: 'reject', domain: 'example.com', reason: '' },
  arc: { result: 'none', sets: [], reason: '' },
  bimi: { result: 'none', location: undefined, authority: undefined },
  reverseDns: { result: 'pass', name: 'mail.example.com' },
  from: { addresses: ['a@example.com'], fields: 1 },
};

test('each result has a line, with what it is about', () => {
  assert.equal(
    formatResultsField('mx.example.net', PASSED),
    [
      'Authentication-Results: mx.example.net;',
      ' spf=pass smtp.mailfrom=bounce.example.com;',
      ' spf=none reason="no record" smtp.helo=mail.example.com;',
      ' dkim=pass header.d=example.com header.s=s1 header.a=rsa-sha256;',
      ' dmarc=pass header.from=example.com policy.dmarc=reject;',
      ' iprev=pass policy.iprev=192.0.2.1\r\n',
    ].join('\r\n'),
  );
});

test('mail that was written on this machine says that it was submitted here, or that nothing was checked', () => {
  assert.equal(
    formatLocalResultsField('mx.example.net', { isSubmitted: true }),
    'Authentication-Results: mx.example.net;\r\n auth=pass (submitted to this installation)\r\n',
  );
  assert.equal(
    formatLocalResultsField('mx.example.net', { isSubmitted: false }),
    'Authentication-Results: mx.example.net;\r\n none\r\n',
  );
});

test('a message that is not signed has the DKIM result none, and undecided results are temperror', () => {
  const field = formatResultsField('mx.example.net', undecided('2001:db8::1', 'it took too long'));
  assert.match(field, /dkim=none;/);
  assert.match(field, /dmarc=temperror reason="it took too long";/);
  assert.match(field, /iprev=temperror policy\.iprev="2001:db8::1"/);
  assert.doesNotMatch(field, /=pass/);
});

test('an ARC chain is reported where there is one', () => {
  const arc = { result: 'fail', sets: [], reason: 'seal 2 does not verify' } as const;
  assert.match(formatResultsField('mx', { ...PASSED, arc }), /arc=fail reason="seal 2 does not verify";/);
});

test('the host name of the installation cannot be anything else', () => {
  for (const name of ['', 'mx example', 'mx;dmarc=pass', 'mx"', '-mx'])
    assert.throws(() => formatResultsField(name, PASSED), RangeError);
});

/** Returns the parts of a field that are outside of quoted strings, with `~` for each string. */
function unquoted(field: string): string {
  return field.replace(/"(?:[^"\\\r\n]|\\[ -~])*"/g, '~');
}

/** Texts like those that inject a result into fields of other servers. */
const INJECTIONS = [
  "legitimate.com'a.attack.com",
  'legitimate.com"a.attack.com',
  'legitimate.com(.attack.com',
  'legitimate.com"; dmarc=pass (x',
  'a.com\\',
  'a.com\\"; dkim=pass header.d=b.com',
  'a.com\r\nX-Injected: 1',
  'a.com\r\n dmarc=pass',
  'a.com\0b.com',
  'a.com; spf=pass',
  '=?utf-8?q?a?=',
  'bücher.example',
  '\u2028x\u0085;dmarc=pass',
];

test('no text from outside adds a result, a property, a comment or a line to the field', () => {
  const text = fc.oneof(fc.constantFrom(...INJECTIONS), fc.string({ unit: anyCharacter }), fc.string());
  fc.assert(
    fc.property(text, text, text, (domain, selector, reason) => {
      const result: AuthenticationResult = {
        ...PASSED,
        address: domain,
        spf: { result: 'fail', domain, reason },
        heloSpf: { result: 'fail', domain: selector, reason },
        dkim: [{ result: 'fail', domain, selector, algorithm: reason, reason: selector, isAligned: false }],
        dmarc: { result: 'fail', policy: 'reject', domain, reason },
        arc: { result: 'fail', sets: [], reason },
        reverseDns: { result: 'fail', name: domain },
      };
      const field = formatResultsField('mx.example.net', result);
      assert.match(field, /^[ -~]+(?:\r\n [ -~]+)*\r\n$/);
      const bare = unquoted(field);
      assert.doesNotMatch(bare, /["\\()]/);
      const results = bare.split(';').slice(1);
      assert.equal(results.length, 6);
      for (const one of results) {
        assert.match(
          one,
          /^(?:\r\n )(?:spf|dkim|dmarc|arc|iprev)=fail(?:\s+(?:reason|smtp\.mailfrom|smtp\.helo|header\.[dsa]|header\.from|policy\.dmarc|policy\.iprev)=(?:~|[A-Za-z0-9._-]+))*(?:\r\n)?$/,
        );
      }
    }),
  );
});

test('a long value is left out, because a part of it would be another domain; a long reason is cut', () => {
  const domain = `${'a'.repeat(300)}.example.com`;
  const spf = { result: 'pass', domain, reason: 'b'.repeat(5_000) } as const;
  const field = formatResultsField('mx.example.net', { ...PASSED, spf });
  assert.doesNotMatch(field, /a{20}/);
  assert.match(field, /"b{120}"/);
  for (const line of field.split('\r\n')) assert.ok(line.length <= 998);
});
