import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, errorsOf, holds, MESSAGE_A, MESSAGE_B, run } from './fixture.ts';

/** Scripts of RFC 5228 with their actions for messages A and B. */
const EXAMPLES: readonly [section: string, script: string, a: string, b: string][] = [
  ['2.3', 'if size :over 100k { # this is a comment\n discard;\n}', 'implicit keep', 'implicit keep'],
  [
    '2.3',
    'if size :over 100K { /* this is a comment\n this is still a comment */ discard /* this is a comment\n */ ;\n}',
    'implicit keep',
    'implicit keep',
  ],
  [
    '2.5.1',
    'if anyof (not exists ["From", "Date"], header :contains "from" "fool@example.com") { discard; }',
    'implicit keep',
    'implicit keep',
  ],
  [
    '2.7.3',
    'if header :contains :comparator "i;octet" "Subject" "MAKE MONEY FAST" { discard; }',
    'implicit keep',
    'implicit keep',
  ],
  ['2.10.2', 'if size :over 500K { discard; }', 'implicit keep', 'implicit keep'],
  [
    '3.1',
    'require "fileinto"; if header :contains "from" "coyote" { discard; } elsif header :contains ["subject"] ["$$$"] { discard; } else { fileinto "INBOX"; }',
    '',
    '',
  ],
  [
    '3.1',
    'if header :contains ["From"] ["coyote"] { redirect "acm@example.com"; } elsif header :contains "Subject" "$$$" { redirect "postmaster@example.com"; } else { redirect "field@example.com"; }',
    'redirect acm@example.com',
    'redirect postmaster@example.com',
  ],
  [
    '4.1',
    'require "fileinto"; if header :contains ["from"] "coyote" { fileinto "INBOX.harassment"; }',
    'fileinto INBOX.harassment',
    'implicit keep',
  ],
  ['4.2', 'redirect "bart@example.com";', 'redirect bart@example.com', 'redirect bart@example.com'],
  ['4.3', 'if size :under 1M { keep; } else { discard; }', 'keep', 'keep'],
  ['4.3', 'if not size :under 1M { discard; }', 'implicit keep', 'implicit keep'],
  [
    '4.4',
    'if header :contains ["from"] ["idiot@example.com"] { discard; }',
    'implicit keep',
    'implicit keep',
  ],
  ['5.5', 'if not exists ["From","Date"] { discard; }', 'implicit keep', 'implicit keep'],
  [
    '9',
    `require ["fileinto"];
# Handle messages from known mailing lists
if header :is "Sender" "owner-ietf-mta-filters@imc.org" { fileinto "filter"; }
# Keep all messages to or from people in my company
elsif address :domain :is ["From", "To"] "example.com" { keep; }
# Try to catch unsolicited email.
elsif anyof (not address :all :contains ["To", "Cc", "Bcc"] "me@example.com",
  header :matches "subject" ["*make*money*fast*", "*university*dipl*mas*"]) { fileinto "spam"; }
else { fileinto "personal"; }`,
    'fileinto spam',
    'fileinto spam',
  ],
];

test('the examples of RFC 5228 do what it says', () => {
  const results = EXAMPLES.map(([section, script]) => [
    section,
    script,
    actionsOf(script, MESSAGE_A).join(),
    actionsOf(script, MESSAGE_B).join(),
  ]);
  assert.deepEqual(results, EXAMPLES);
});

const CAFFEINE =
  'X-Caffeine: C8H10N4O2\nX-Empty:\nX-Folded: one\n two\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= an alle\n\nbody\n';

const TESTS: readonly [test: string, isTrue: boolean][] = [
  ['allof (false, false)', false],
  ['allof (false, true)', false],
  ['allof (true,  true)', true],
  ['anyof (false, false)', false],
  ['anyof (false, true)', true],
  ['anyof (true,  true)', true],
  ['not false', true],
  ['header :is ["X-Caffeine"] [""]', false],
  ['header :contains ["X-Caffeine"] [""]', true],
  ['header :is "x-empty" ""', true],
  ['header :is "x-missing" ""', false],
  ['header :contains "x-missing" ""', false],
  ['not header :matches "Cc" "?*"', true],
  ['header "x-folded" "one two"', true],
  ['header :is "subject" "GRüßE AN ALLE"', true],
  ['header :is :comparator "i;octet" "subject" "grüße an alle"', false],
  ['header :contains "subject" "GRÜßE"', false],
  ['header :matches "x-caffeine" "c?h*"', true],
  ['header :matches "x-caffeine" "c?h"', false],
  ['header :matches :comparator "i;octet" "x-caffeine" "c*"', false],
  ['header :matches "subject" "Gr??*"', true],
  ['header :matches "subject" "gr??????? ALLE"', false],
  ['header :is "x-caffeine:" "C8H10N4O2"', false],
  ['exists ["x-empty", "subject"]', true],
  ['exists ["x-empty", "x-none"]', false],
  ['size :over 10', true],
  ['size :under 1G', true],
];

test('tests compare as RFC 5228 section 5 says', () => {
  assert.deepEqual(
    TESTS.map(([text]) => [text, holds(text, CAFFEINE)]),
    TESTS,
  );
});

test('a size is neither over nor under itself', () => {
  const message = { octets: Buffer.from('Subject: x\r\n\r\n'), sizeBytes: 4_000 };
  assert.equal(holds('anyof (size :over 4000, size :under 4000)', '', { message }), false);
  assert.equal(holds('allof (size :over 3999, size :under 4001)', '', { message }), true);
});

const ADDRESSES = `From: "Tim (not a comment)" <Tim@Example.COM>
To: Undisclosed: a@b.example, "x y"@c.example;, <@route.example:d@e.example>
Cc: broken
Subject: s

`;

const ADDRESS_TESTS: readonly [test: string, isTrue: boolean][] = [
  ['address :is :all "from" "tim@example.com"', true],
  ['address :comparator "i;octet" "from" "tim@example.com"', false],
  ['address :localpart "from" "tim"', true],
  ['address :domain "from" "example.com"', true],
  ['address :contains "from" "comment"', false],
  ['address "to" "a@b.example"', true],
  ['address :contains "to" "undisclosed"', false],
  ['address :localpart "to" "x y"', true],
  ['address "to" "d@e.example"', true],
  ['address :contains "to" "route"', false],
  ['address :localpart "cc" "broken"', false],
  ['address :domain :matches "cc" "*"', false],
  ['address "cc" "broken"', true],
  ['address ["cc", "from"] ["x", "tim@example.com"]', true],
];

test('addresses are compared in parts', () => {
  assert.deepEqual(
    ADDRESS_TESTS.map(([text]) => [text, holds(text, ADDRESSES)]),
    ADDRESS_TESTS,
  );
});

const ERRORS: readonly [script: string, ...errors: string[]][] = [
  ['keep', '1:5 `;` or a block was expected, but here is the end of the script'],
  ['if true { keep; ', '1:17 a command or `}` was expected, but here is the end of the script'],
  ['keep;\n  "x";', '2:3 a command was expected, but here is a string'],
  ['redirect "a', '1:10 this string has no end'],
  ['/* x', '1:1 this comment has no end'],
  ['redirect text:\nx\n', '1:10 this text has no line with a single dot at its end'],
  ['keep é;', '1:6 the character "é" cannot stand here'],
  ['if size :over 99999999999999G { }', '1:15 this number is too large'],
  ['keep;\nfly "x";\nflap;', '2:1 the command `fly` is unknown', '3:1 the command `flap` is unknown'],
  ['if flies { keep; }', '1:4 the test `flies` is unknown'],
  ['keep; require "fileinto";', '1:7 `require` must stand before all other commands'],
  ['require ["fileinto", "nothing", "none"];', '1:9 the server does not have `nothing`, `none`'],
  ['require "FILEINTO";', '1:9 the server does not have `FILEINTO`'],
  ['require "base";', '1:9 the server does not have `base`'],
  ['fileinto "x";', '1:1 `fileinto` needs `require "fileinto"`'],
  ['keep; else { stop; }', '1:7 `else` must follow `if` or `elsif`'],
  ['if true { } else { } elsif true { }', '1:22 `elsif` must follow `if` or `elsif`'],
  ['if { stop; }', '1:1 `if` needs one test, without parentheses'],
  ['if (true) { stop; }', '1:5 `if` needs one test, without parentheses'],
  ['if true stop;', '1:1 `if` needs a block', '1:9 `true` takes no test'],
  ['if allof true { }', '1:10 `allof` needs a list of tests in parentheses'],
  ['if anyof () { }', '1:11 a test was expected, but here is `)`'],
  ['stop { }', '1:1 `stop` takes no block'],
  ['keep "x";', '1:6 `keep` has an argument too many'],
  ['keep :copy;', '1:6 `keep` has no tag `:copy`'],
  ['if header :is :contains "a" "b" { }', '1:15 `:contains` cannot be used with `:is`'],
  ['if header :is :is "a" "b" { }', '1:15 `:is` is given twice'],
  ['if header "a" { }', '1:4 `header` needs `keys`: a string or a list of strings'],
  ['if header "a" 7 { }', '1:15 `header` needs `keys`: a string or a list of strings'],
  ['if header "a" "b" :is { }', '1:19 tags stand before the other arguments'],
  ['if header :comparator 1 "a" "b" { }', '1:23 `:comparator`: a string'],
  ['if header :comparator ["i;octet"] "a" "b" { }', '1:23 `:comparator`: a string'],
  ['if header :comparator "i;none" "a" "b" { }', '1:23 the comparator `i;none` is unknown'],
  ['if size 7 { }', '1:4 `size` needs `:over` or `:under`'],
  ['if address "subject" "x" { }', '1:12 the field `subject` does not contain addresses'],
  ['redirect ["a@b.example"];', '1:10 `redirect` needs `address`: a string'],
  ['redirect "nobody";', '1:10 the address of `redirect` must be one email address'],
  ['keep;\0', '1:6 a script must not contain NUL'],
];

test('errors say where they are', () => {
  assert.deepEqual(
    ERRORS.map(([script]) => [script, ...errorsOf(script)]),
    ERRORS,
  );
});

test('strings have escapes, dots and line ends as RFC 5228 section 2.4.2 says', () => {
  const reject = (argument: string) => `if header :is "x" ${argument} { discard; }`;
  const message = (value: string) => `X: ${value}\n\n`;
  assert.equal(actionsOf(reject('"a\\"b\\\\c\\d"'), message('a"b\\cd')).length, 0);
  const text = 'redirect text: # comment\n..a\n.b\n.\n;';
  assert.deepEqual(errorsOf(text), ['1:10 the address of `redirect` must be one email address']);
});

test('an action is taken once, and a script redirects at most four times', () => {
  assert.deepEqual(actionsOf('keep; keep; redirect "a@b.example"; redirect "a@b.example";'), [
    'keep',
    'redirect a@b.example',
  ]);
  const many = [1, 2, 3, 4, 5].map((number) => `redirect "a${number}@b.example";\n`).join('');
  const outcome = run(many);
  assert.deepEqual(outcome, {
    kind: 'failed',
    error: { line: 5, script: undefined, message: 'a script may redirect a message 4 times' },
    remembered: [],
  });
});

test('a script takes a bounded number of actions', () => {
  const many = Array.from({ length: 33 }, (_, number) => `fileinto "a${number}";`).join('');
  assert.deepEqual(actionsOf(`require "fileinto"; ${many}`), ['failed: a script may take 32 actions']);
});

test('actions name their lines', () => {
  const outcome = run('require "fileinto";\nif true {\n  fileinto "a";\n}\nstop;\nkeep;');
  assert.ok(outcome.kind === 'done');
  assert.deepEqual(
    outcome.actions.map(({ kind, line }) => [kind, line]),
    [['fileinto', 3]],
  );
});
