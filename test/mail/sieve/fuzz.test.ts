import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { checkScript } from '../../../src/mail/sieve/check.ts';
import type { NeededInput } from '../../../src/mail/sieve/run/account.ts';
import type { RunInput } from '../../../src/mail/sieve/run/run.ts';
import { runScript } from '../../../src/mail/sieve/run-script.ts';
import { inputOf, MESSAGE_A } from './fixture.ts';
import { brokenScripts, scripts } from './grammar.ts';

const MESSAGE = `Received: by a; Sun, 1 Mar 2026 10:00:00 +0000
Message-ID: <1@b.example>
From: Ann <a@b.example>
To: me@example.com
Subject: hello a * ? ü
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html

<p>hello</p>
--b
Content-Type: message/rfc822

Subject: x

y
--b--
`;

const OTHERS = new Map(
  [
    ['personal/self', 'require "include"; include "self";'],
    [
      'personal/other',
      `require ["fileinto", "variables", "include"]; global "g"; set "g" "\${g}x"; fileinto "o\${g}";`,
    ],
  ].map(([name = '', text = '']) => [name, checkScript(text)]),
);

/** Runs a script to its end, with all that it needs. Every second key of `duplicate` is known. */
function runToEnd(text: string): string {
  const checked = checkScript(text);
  if (checked.kind === 'invalid') {
    checkErrors(text, checked.errors);
    return 'invalid';
  }
  let input: RunInput = { ...inputOf(MESSAGE), scripts: OTHERS };
  for (let runs = 0; ; runs++) {
    assert.ok(runs < 12, 'the runs end');
    const outcome = runScript(checked.script, input);
    if (outcome.kind === 'needs') input = { ...input, ...answerTo(input, outcome.needed) };
    else if (runs < 2)
      input = {
        ...input,
        duplicates: outcome.remembered.filter((_, n) => n % 2 === 0).map(({ key }) => key),
      };
    else return outcome.kind;
  }
}

/** Returns the input that a run asks for. */
function answerTo(input: RunInput, needed: NeededInput): Partial<RunInput> {
  switch (needed.what) {
    case 'folders':
      return { folders: [{ name: 'a', mailboxId: 'F1', specialUse: '\\Junk' }] };
    case 'annotations': {
      const entries = [{ entry: '/private/comment', value: 'a' }];
      return { annotations: [...(input.annotations ?? []), { mailbox: needed.mailbox, entries }] };
    }
    case 'contacts': {
      const answers = needed.addresses.map((address, index) => ({ address, isKnown: index % 2 === 0 }));
      return { contacts: [...(input.contacts ?? []), ...answers] };
    }
  }
}

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

function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

test('scripts of the grammar end, whatever they say, and leave nothing behind', () => {
  const outcomes = new Map<string, number>();
  const texts = fc.sample(scripts, { numRuns: 120, seed: 1 });
  const runAll = () => {
    for (const text of texts) {
      const outcome = runToEnd(text);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  runAll();
  const before = usedBytes();
  runAll();
  assert.ok(usedBytes() - before < 1024 * 1024, 'the heap does not grow');

  // The grammar reaches all kinds of ends.
  for (const outcome of ['done', 'failed', 'invalid'])
    assert.ok((outcomes.get(outcome) ?? 0) > 10, `${outcome}: ${outcomes.get(outcome)}`);
});

test('scripts with slips have errors inside their text', () => {
  fc.assert(
    fc.property(fc.oneof(brokenScripts, fc.string({ maxLength: 60 })), (text) => {
      runToEnd(text);
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
