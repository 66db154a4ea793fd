import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkScript } from '../../../src/mail/sieve/check.ts';
import { runScript } from '../../../src/mail/sieve/run-script.ts';
import { inputOf, MESSAGE_A } from './fixture.ts';
import { brokenScripts } from './grammar.ts';

function checkErrors(
  text: string,
  errors: readonly { line: number; column: number; message: string }[],
): void {
  const lines = text.split('\n');
  assert.ok(errors.length > 0 && errors.length <= 20);
  for (const { line, column, message } of errors) {
    const length = lines[line - 1]?.length ?? -1;
    assert.ok(column >= 1 && column <= length + 1, `${line}:${column} ${message} in ${text}`);
    assert.ok(message.length > 0);
  }
}

test('scripts with slips have errors inside their text', () => {
  fc.assert(
    fc.property(fc.oneof(brokenScripts, fc.string({ maxLength: 60 })), (text) => {
      const checked = checkScript(text);
      if (checked.kind === 'invalid') checkErrors(text, checked.errors);
    }),
    { seed: 1, numRuns: 100 },
  );
});

/** Scripts that try to take long, each with what stops them. */
const HOSTILE: readonly [name: string, script: string, message: string, end: RegExp][] = [
  [
    'stars',
    `if header :matches "x" "${'*'.repeat(10_000)}" { discard; }`,
    `X: ${'a'.repeat(100_000)}\n\n`,
    /^done$/,
  ],
  [
    'stars between letters',
    `if header :matches "x" "${'*a'.repeat(1_000)}b" { discard; }`,
    `X: ${'a'.repeat(100_000)}\n\n`,
    /^done$/,
  ],
  [
    'stars and single characters',
    `if header :matches "x" "*${'?a'.repeat(2_000)}b*" { discard; }`,
    `X: ${'a'.repeat(100_000)}\n\n`,
    /^done$/,
  ],
  [
    'many searches',
    'if header :contains "x" "b" { discard; }\n'.repeat(1_500),
    `X: ${'a'.repeat(200_000)}\n\n`,
    /^failed: the script takes more than 200000 steps$/,
  ],
  [
    'patterns of Unicode',
    `require "comparator-i;unicode-casemap"; ${'if header :comparator "i;unicode-casemap" :matches "x" "*ü?é*" { stop; }\n'.repeat(100)}`,
    `X: ${'é'.repeat(60_000)}\n\n`,
    /^done$/,
  ],
  [
    'folds of Unicode',
    `require "comparator-i;unicode-casemap"; ${'if header :comparator "i;unicode-casemap" :contains "x" "zz" { stop; } if header :contains "x" "zz" { stop; }\n'.repeat(100)}`,
    `X: ${'é'.repeat(60_000)}\n\n`,
    /^failed: the script takes more than 200000 steps$/,
  ],
  [
    'folds of variables',
    `require ["variables", "comparator-i;unicode-casemap"]; set "a" "${'é'.repeat(4_000)}"; ${`if header :comparator "i;unicode-casemap" :is "x" "\${a}" { stop; }\n`.repeat(2_000)}`,
    'X: a\n\n',
    /^failed: the script takes more than 200000 steps$/,
  ],
  [
    'doubling',
    `require "variables"; set "a" "xxxxxxxx"; ${`set "a" "\${a}\${a}\${a}\${a}";`.repeat(5_000)}`,
    MESSAGE_A,
    /^failed: the script takes more than 200000 steps$/,
  ],
  ['nesting', 'if true { '.repeat(20_000), MESSAGE_A, /^invalid: .* nested more than 64 deep$/],
  ['not', `if ${'not '.repeat(50_000)} true { }`, MESSAGE_A, /^invalid: .* nested more than 64 deep$/],
  ['an open string', `redirect "${'\\\\'.repeat(100_000)}`, MESSAGE_A, /^invalid: this string has no end$/],
  ['an open list', `redirect [${'"a",'.repeat(60_000)}`, MESSAGE_A, /^invalid: a string was expected/],
  ['size', `# ${'x'.repeat(300_000)}`, MESSAGE_A, /^invalid: a script has at most 262144 octets$/],
  ['errors', 'fly;\n'.repeat(50_000), MESSAGE_A, /^invalid: the command `fly` is unknown$/],
];

test('hostile scripts end soon', () => {
  for (const [name, script, message, end] of HOSTILE) {
    const before = process.cpuUsage();
    assert.match(endOf(script, message), end, name);
    const { user, system } = process.cpuUsage(before);
    // A generous limit of CPU time, also for a slow machine. An exponential or quadratic search takes minutes.
    assert.ok(user + system < 2_000_000, `${name} takes ${(user + system) / 1_000} ms`);
  }
});

test('scripts that include each other twice end', () => {
  const doubled = Array.from(
    { length: 9 },
    (_, n) =>
      [`personal/${n}`, checkScript(`require "include"; ${`include "${n + 1}"; `.repeat(10)}`)] as const,
  );
  const scripts = new Map([...doubled, ['personal/9', checkScript('keep;')] as const]);
  const checked = checkScript('require "include"; include "0";');
  assert.ok(checked.kind === 'valid');
  const outcome = runScript(checked.script, { ...inputOf(MESSAGE_A), scripts });
  assert.ok(outcome.kind === 'failed');
  assert.equal(outcome.error.message, 'the script takes more than 200000 steps');
});

function endOf(text: string, message: string): string {
  const checked = checkScript(text);
  if (checked.kind === 'invalid') return `invalid: ${checked.errors[0]?.message}`;
  const outcome = runScript(checked.script, inputOf(message));
  return outcome.kind === 'failed' ? `failed: ${outcome.error.message}` : outcome.kind;
}
