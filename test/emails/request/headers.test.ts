import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readHeaders } from '../../../src/emails/request/headers.ts';
import { AppError } from '../../../src/system/errors.ts';
import { anyCharacter } from '../../support/any-character.ts';

type Type = 'transactional' | 'broadcast';

function accepts(headers: Record<string, string>, type: Type = 'transactional'): void {
  assert.deepEqual(
    readHeaders(headers, type),
    Object.entries(headers).map(([name, value]) => ({ name, value })),
  );
}

function refuses(param: string, headers: Record<string, string>, type: Type = 'transactional'): void {
  assert.throws(
    () => readHeaders(headers, type),
    (error) =>
      error instanceof AppError && error.code === 'validation_error' && error.options.param === param,
    JSON.stringify(headers).slice(0, 200),
  );
}

/** Reserved names: fields that other parts of a request set, all of Content-*, and the fields that receivers write. */
const RESERVED =
  `From To Cc Bcc Reply-To Sender Subject Date Message-ID Return-Path Received Delivered-To MIME-Version
  Content-Type Content-Transfer-Encoding Content-Disposition Content-ID Content-Location Content-Language DKIM-Signature Authentication-Results ARC-Seal
  ARC-Message-Signature ARC-Authentication-Results Received-SPF Feedback-ID CFBL-Address CFBL-Feedback-ID
  X-Mailer X-Originating-IP Resent-From Resent-Bcc X-Service-Signature X-Service-Idempotency-Key DomainKey-Signature
  BIMI-Indicator X-Authentication-Results Apparently-To Envelope-To X-Original-To`.split(/\s+/);
const LIST_HEADERS = ['List-Unsubscribe', 'List-Unsubscribe-Post', 'List-Id', 'List-Help', 'Precedence'];

for (const name of RESERVED) {
  test(`the header ${name} is reserved, in any case`, () => {
    for (const type of ['transactional', 'broadcast'] as const) {
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
        refuses(`headers.${spelling}`, { [spelling]: 'x' }, type);
      }
    }
  });
}

test('List-* and Precedence are reserved on broadcasts, and free on transactional email', () => {
  for (const name of LIST_HEADERS) {
    accepts({ [name]: '<https://a.example/>' });
    refuses(`headers.${name}`, { [name]: 'x' }, 'broadcast');
  }
});

test('headers for threading and auto-replies and other custom names are allowed', () => {
  const headers = {
    'In-Reply-To': '<a@b.example>',
    References: '<a@b.example> <c@d.example>',
    'Auto-Submitted': 'auto-generated',
    'X-Campaign': 'spring',
    'X-Mailer-Id': '7',
    'BIMI-Selector': 'v=BIMI1; s=spring',
    Fromage: 'x',
    Contents: 'x',
    Received_: 'x',
    '!#$%&': 'x',
  };
  accepts(headers);
  accepts(headers, 'broadcast');
});

test('TLS-Required has one value, with which policies about TLS do not hold an email up', () => {
  accepts({ 'TLS-Required': 'No' });
  accepts({ 'tls-required': ' no' }, 'broadcast');
  for (const value of ['Yes', 'No way', '']) refuses('headers.TLS-Required', { 'TLS-Required': value });
});

test('a name is 1 to 126 printable ASCII characters without a colon', () => {
  accepts({ ['x'.repeat(126)]: 'v' });
  for (const name of [
    '',
    'x'.repeat(127),
    'a:b',
    'a b',
    'a\tb',
    'a\r\nBcc',
    'a\0',
    'ä',
    '\ud800',
    'a\u007f',
  ]) {
    refuses('headers', { [name]: 'v' });
  }
});

test('a value is printable text on one line, which is encoded and folded when it is sent', () => {
  accepts({
    'X-A': 'v'.repeat(5_000),
    'X-B': '',
    'X-C': 'tab\tand ~',
    'X-D': 'Grüße 🎉',
    References: '<a@b.example>'.repeat(200),
  });
  for (const value of ['a\r\nBcc: x@y.example', 'a\n', '\ra', 'a\0b', '\u0085', '\u2028', '\x7f', '\ud800'])
    refuses('headers.X-A', { 'X-A': value });
});

test('a value that its field cannot express is refused', () => {
  refuses('headers.References', { References: '<grüße@a.example>' });
  refuses('headers.References', { References: `<${'x'.repeat(1_000)}@a.example>` });
  refuses('headers.List-Help', { 'List-Help': `<https://a.example/${'x'.repeat(1_000)}>` });
});

test('a header is given once, whatever its case', () => {
  refuses('headers.x-a', { 'X-A': '1', 'x-a': '2' });
});

test('headers are at most 16 KiB in total', () => {
  const some = Object.fromEntries(
    Array.from({ length: 18 }, (_, index) => [`X-${index + 10}`, 'v'.repeat(870)]),
  );
  accepts(some);
  refuses('headers', { ...some, 'X-99': 'v'.repeat(870) });
});

test('every accepted value is one printable line', () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('X-A', 'a\r\nb', '\0', '__proto__', 'From'),
  );
  fc.assert(
    fc.property(fc.dictionary(text, text, { maxKeys: 5 }), (headers) => {
      try {
        for (const { name, value } of readHeaders(headers, 'transactional')) {
          assert.match(`${name}: ${value}`, /^[!-9;-~]+: [\t\P{Cc}]*$/u);
        }
      } catch (error) {
        assert.ok(error instanceof AppError, String(error));
      }
    }),
  );
});
