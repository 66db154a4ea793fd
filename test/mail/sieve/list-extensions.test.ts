import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Annotations } from '../../../src/mail/sieve/run/account.ts';
import { actionsOf, errorsOf, holds, MESSAGE_A, run } from './fixture.ts';

const MESSAGE = `From: Ann <ann@known.example>, "B, b" <bob@other.example>
To: owner@example.com
Subject: Order 4711 (paid)

Call 555-1234 now.
`;

const holdsRegex = (testText: string, message = MESSAGE) =>
  holds(testText, message, { require: ['regex', 'body'] });

test('regular expressions match texts, without regard to case unless the comparator says otherwise', () => {
  assert.ok(holdsRegex('header :regex "subject" "^order [0-9]+"'));
  assert.ok(!holdsRegex('header :regex :comparator "i;octet" "subject" "^order [0-9]+"'));
  assert.ok(holdsRegex('header :regex "subject" ["^x$", "[[:digit:]]{4}.*\\\\(paid\\\\)$"]'));
  assert.ok(holdsRegex('address :domain :regex "from" "^(known|other)[.]example$"'));
  assert.ok(holdsRegex('body :regex "[0-9]{3}-[0-9]{4}"'));
  assert.ok(!holdsRegex('header :regex "subject" "^4711"'));
});

test('groups of a regular expression are match variables, of the longest match', () => {
  const script = `require ["regex", "variables", "fileinto"];
    if header :regex "subject" "(o|or|order) ([0-9]+)( unpaid)?" { fileinto "\${1}-\${2}-\${3}-\${0}"; }`;
  assert.deepEqual(actionsOf(script, MESSAGE), ['fileinto Order-4711--Order 4711']);
});

test('an expression may come from variables, whose special characters are quoted by a modifier', () => {
  const script = (modifier: string) => `require ["regex", "variables", "fileinto"];
    set ${modifier} "v" "(paid)";
    if header :regex "subject" " \${v}$" { fileinto "found"; }`;
  assert.deepEqual(actionsOf(script(':quoteregex'), MESSAGE), ['fileinto found']);
  assert.deepEqual(actionsOf(script(''), MESSAGE), ['implicit keep']);
  const broken = `require ["regex", "variables"]; set "v" "("; if header :regex "to" "\${v}" { stop; }`;
  assert.match(actionsOf(broken, MESSAGE)[0] ?? '', /^failed: "\(" is not a regular expression/);
});

test('an expression that is not linear, is not valid or is too large is refused with its reason', () => {
  const errorOf = (expression: string) =>
    errorsOf(`require "regex"; if header :regex "subject" "${expression}" { stop; }`)[0] ?? '';
  assert.match(
    errorOf('(a)\\\\1'),
    /^1:\d+ "\(a\)\\\\1" is not a regular .* back-references and look-around are not/,
  );
  assert.match(errorOf('(?=a)'), /back-references and look-around are not supported/);
  assert.match(errorOf('[a'), /is not a regular expression/);
  assert.match(errorOf('a'.repeat(1_025)), /at most 1024 characters/);
  assert.match(errorOf('(a{1,500}b?){1}(c{1,600})'), /is too complex/);
  assert.match(errorsOf('if header :regex "to" "a" { stop; }')[0] ?? '', /needs `require "regex"`/);
  assert.match(
    errorsOf(
      'require ["regex", "comparator-i;ascii-numeric"]; if header :regex :comparator "i;ascii-numeric" "to" "a" { stop; }',
    )[0] ?? '',
    /cannot compare by `:regex`/,
  );
});

test('the work of an expression grows with the text and with the expression, and ends the run', () => {
  const script = 'require ["regex", "body"]; if body :raw :regex "(x*)*(x|xx|xxx)+[yz]?$" { discard; }';
  const small = run(script, `Subject: a\n\n${'x'.repeat(1_000)}!`);
  assert.equal(small.kind, 'done');
  const large = run(script, `Subject: a\n\n${'x'.repeat(1_000_000)}!`);
  assert.ok(large.kind === 'failed' && /more than 200000 steps/.test(large.error.message));
});

test('the expressions of a script have a size in all, and those with variables count as work', () => {
  const test = (count: number) => `header :regex "subject" [${Array(count).fill('"a{990}"').join()}]`;
  const refusal = `require "regex"; if anyof (${test(20)}, ${test(1)}, ${test(1)}) { stop; }`;
  assert.deepEqual(errorsOf(`require "regex"; if anyof (${test(20)}, ${test(1)}) { stop; }`), []);
  assert.match(errorsOf(refusal)[0] ?? '', /regular expressions of a script have a size of at most 20000/);
  const classes = `require ["regex", "variables"]; set "v" "${'\\\\pL'.repeat(300)}";
    if header :regex "subject" ["\${v}", "\${v}", "\${v}"] { stop; }`;
  const outcome = run(classes, MESSAGE);
  assert.ok(outcome.kind === 'failed' && /more than 200000 steps/.test(outcome.error.message));
});

test('spamtest with `:percent` sees the percentage, and a message that was not tested counts as none', () => {
  const numeric = ':comparator "i;ascii-numeric"';
  const requires = ['spamtestplus', 'relational', 'comparator-i;ascii-numeric'];
  const is = (text: string, spamPercent: number | undefined) =>
    holds(text, MESSAGE_A, { require: requires, spamPercent });
  assert.ok(is(`spamtest :percent :value "ge" ${numeric} "37"`, 37));
  assert.ok(!is(`spamtest :percent :value "ge" ${numeric} "38"`, 37));
  assert.ok(is(`spamtest :value "eq" ${numeric} "4"`, 37), 'spamtestplus includes the test without :percent');
  assert.ok(is(`spamtest :percent :count "eq" ${numeric} "0"`, undefined));
  assert.ok(is(`spamtest :percent :count "eq" ${numeric} "1"`, 0));
  assert.ok(is(`spamtest :percent :value "eq" ${numeric} "0"`, undefined));
  assert.match(
    errorsOf('require "spamtest"; if spamtest :percent "1" { stop; }')[0] ?? '',
    /needs `require "spamtestplus"`/,
  );
});

test('the address book is asked once for all addresses of a test, and gives the address that was found', () => {
  const script = `require ["extlists", "variables", "fileinto"];
    if header :list "from" ":addrbook:default" { fileinto "\${0}"; }`;
  const first = run(script, MESSAGE);
  const addresses = ['ann@known.example', 'bob@other.example'];
  assert.deepEqual(first, { kind: 'needs', needed: { what: 'contacts', addresses } });
  const answer = (known: string) => ({
    contacts: addresses.map((address) => ({ address, isKnown: address === known })),
  });
  assert.deepEqual(actionsOf(script, MESSAGE, answer('bob@other.example')), ['fileinto bob@other.example']);
  assert.deepEqual(actionsOf(script, MESSAGE, answer('')), ['implicit keep']);
});

test('the address book has one name in several forms; other lists do not exist', () => {
  const is = (name: string) => holds(`valid_ext_list "${name}"`, MESSAGE, { require: ['extlists'] });
  for (const name of [
    'urn:ietf:params:sieve:addrbook:default',
    ':addrbook:default',
    ':ADDRBOOK:DEFAULT',
    ':AddrBook:%44%65%66ault',
  ])
    assert.ok(is(name), name);
  for (const name of [':addrbook:personal', 'tag:example.com,2011:x', '', ':addrbook:%zz', 'a@b.example'])
    assert.ok(!is(name), name);
  const other = 'require "extlists"; if header :list "from" ":addrbook:x" { discard; }';
  assert.deepEqual(actionsOf(other, MESSAGE), ['failed: there is no list ":addrbook:x"']);
});

test('`:list` takes no comparator, only stands where it is meant to, and sends nothing to all of a list', () => {
  const errorOf = (text: string) => errorsOf(`require ["extlists", "body"]; ${text}`)[0] ?? '';
  assert.match(
    errorOf('if header :list :comparator "i;octet" "from" ":addrbook:default" { stop; }'),
    /takes no comparator/,
  );
  assert.match(errorOf('if body :list ":addrbook:default" { stop; }'), /`body` has no tag `:list`/);
  assert.deepEqual(actionsOf('require "extlists"; redirect :list ":addrbook:default";', MESSAGE), [
    'failed: the server cannot send a message to all of an address book',
  ]);
});

test('tests see the annotations of a mailbox and of the server, each asked for once', () => {
  const requires = ['mboxmetadata', 'servermetadata'];
  const annotations: Annotations[] = [
    { mailbox: 'INBOX', entries: [{ entry: '/private/Vendor/x/auto', value: 'On' }] },
    { mailbox: '', entries: [{ entry: '/shared/admin', value: 'mailto:a@b.example' }] },
    { mailbox: 'None', entries: [] },
  ];
  const is = (text: string) => holds(text, MESSAGE, { require: requires, annotations });
  assert.ok(is('metadata :is "INBOX" "/private/vendor/x/AUTO" "on"'));
  assert.ok(!is('metadata :is "INBOX" "/private/vendor/x/auto" "off"'));
  assert.ok(!is('metadata :matches "None" "/private/vendor/x/auto" "*"'));
  assert.ok(is('metadataexists "INBOX" ["/private/vendor/x/auto"]'));
  assert.ok(!is('metadataexists "INBOX" ["/private/vendor/x/auto", "/private/none"]'));
  assert.ok(is('servermetadata :contains "/shared/admin" "a@b"'));
  assert.ok(is('servermetadataexists "/shared/admin"'));
  assert.ok(!is('servermetadataexists "/private/vendor/x/auto"'));
  const asked = run('require "mboxmetadata"; if metadata "Other" "/private/a" "b" { stop; }', MESSAGE);
  assert.deepEqual(asked, { kind: 'needs', needed: { what: 'annotations', mailbox: 'Other' } });
});
