import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIEVE_EXTENSIONS } from '../../../src/mail/sieve/extensions/table.ts';
import { actionsOf, errorsOf, holds, MESSAGE_A, run } from './fixture.ts';

test('every advertised extension can be required', () => {
  assert.equal(SIEVE_EXTENSIONS.length, 36);
  assert.deepEqual(
    SIEVE_EXTENSIONS.filter((name) => errorsOf(`require "${name}";`).length > 0),
    [],
  );
});

test('what an extension adds needs its require', () => {
  for (const [script, capability] of [
    ['fileinto "x";', 'fileinto'],
    ['vacation "x";', 'vacation'],
    ['reject "x";', 'reject'],
    ['ereject "x";', 'ereject'],
    ['addheader "X" "y";', 'editheader'],
    ['if envelope "from" "x" { }', 'envelope'],
    ['if header :count "gt" "x" "1" { }', 'relational'],
    ['if header :index 1 "x" "1" { }', 'index'],
    ['if header :mime "x" "1" { }', 'mime'],
    ['if header :comparator "i;ascii-numeric" "x" "1" { }', 'comparator-i;ascii-numeric'],
    ['redirect :copy "a@b.example";', 'copy'],
    ['keep :flags "x";', 'imap4flags'],
    ['foreverypart { }', 'foreverypart'],
    ['include "x";', 'include'],
  ] as const) {
    const [error = ''] = errorsOf(script);
    assert.match(error, new RegExp(`needs \`require "${capability}"\``), script);
  }
});

/** Strings of RFC 5228 section 2.4.2.4 and what they are. */
const ENCODED: readonly [text: string, value: string][] = [
  [`$\${hex:40}`, '$@'],
  [`\${hex: 40 }`, '@'],
  [`\${HEX: 40}`, '@'],
  [`\${hex:40`, `\${hex:40`],
  [`\${hex:400}`, `\${hex:400}`],
  [`\${hex:4\${hex:30}}`, `\${hex:40}`],
  [`\${unicode:40}`, '@'],
  [`\${ unicode:40}`, `\${ unicode:40}`],
  [`\${UNICODE:40}`, '@'],
  [`\${UnICoDE:0000040}`, '@'],
  [`\${Unicode:40}`, '@'],
  [`\${Unicode:Cool}`, `\${Unicode:Cool}`],
  [`$\${hex:24 24}`, '$$$'],
  [`\${hex:c3}\${hex:a9}`, 'é'],
  [`\${unicode:1F600 e9}`, '😀é'],
];

test('encoded characters are those of RFC 5228 section 2.4.2.4', () => {
  for (const [text, value] of ENCODED) {
    const isSame = holds(`header :is :comparator "i;octet" "X" "${text}"`, `X: ${value}\n\n`, {
      require: ['encoded-character'],
    });
    assert.equal(isSame, true, text);
  }
  for (const text of [`\${unicode:200000}`, `\${Unicode:DF01}`])
    assert.match(
      errorsOf(`require "encoded-character"; if header "X" "${text}" { }`)[0] ?? '',
      /is not the number of a character$/,
    );
});

test('a copy leaves the implicit keep (RFC 3894)', () => {
  const script = (action: string) => `require ["fileinto", "copy"]; ${action}`;
  assert.deepEqual(actionsOf(script('fileinto :copy "a";')), ['fileinto a', 'implicit keep']);
  assert.deepEqual(actionsOf(script('redirect :copy "a@b.example";')), [
    'redirect a@b.example',
    'implicit keep',
  ]);
  assert.deepEqual(actionsOf(script('fileinto :copy "a"; discard;')), ['fileinto a']);
});

test('the envelope is compared without routes, and a null sender is empty (RFC 5228 section 5.4)', () => {
  const withSender = (from: string) => ({
    require: ['envelope', 'relational', 'comparator-i;ascii-numeric', 'subaddress'],
    envelope: { from, to: 'ken+sieve@example.com' },
  });
  for (const [text, from, isTrue] of [
    ['envelope :all :is "from" "tim@example.com"', 'Tim@Example.com', true],
    ['envelope "from" "tim@example.com"', '@relay.example:tim@example.com', true],
    ['envelope :domain "FROM" "example.com"', 'tim@example.com', true],
    ['envelope :domain "from" ""', '', true],
    ['envelope :localpart "from" ""', '', true],
    ['envelope :count "eq" :comparator "i;ascii-numeric" "from" "0"', '', true],
    ['envelope :count "eq" :comparator "i;ascii-numeric" ["from", "to"] "2"', 'a@b.example', true],
    ['envelope :user "to" "ken"', 'a@b.example', true],
    ['envelope :detail "to" "sieve"', 'a@b.example', true],
    ['envelope :detail "from" ""', 'a@b.example', false],
  ] as const)
    assert.equal(holds(text, MESSAGE_A, withSender(from)), isTrue, text);
  assert.match(
    errorsOf('require "envelope"; if envelope "auth" "x" { }')[0] ?? '',
    /not a part of the envelope/,
  );
});

/** The message of RFC 5231 section 6. */
const RELATIONAL = `Received: by a; Sun, 1 Mar 2026 10:00:00 +0000
Received: by b; Sun, 1 Mar 2026 09:00:00 +0000
Subject: example
To: foo@example.com, baz@example.com
Cc: qux@example.com
X-Priority: 07

`;

test('values and counts are compared as in RFC 5231', () => {
  const require = ['relational', 'comparator-i;ascii-numeric', 'subaddress'];
  for (const [text, isTrue] of [
    ['address :count "ge" :comparator "i;ascii-numeric" ["to", "cc"] ["3"]', true],
    [
      'anyof (address :count "ge" :comparator "i;ascii-numeric" ["to"] ["3"], address :count "ge" :comparator "i;ascii-numeric" ["cc"] ["3"])',
      false,
    ],
    ['header :count "ge" :comparator "i;ascii-numeric" ["received"] ["3"]', false],
    ['header :count "ge" :comparator "i;ascii-numeric" ["received", "subject"] ["3"]', true],
    ['header :count "ge" :comparator "i;ascii-numeric" ["to", "cc"] ["3"]', false],
    ['header :value "lt" :comparator "i;ascii-numeric" "x-priority" "10"', true],
    ['header :value "eq" :comparator "i;ascii-numeric" "x-priority" "7"', true],
    ['header :value "lt" "x-priority" "10"', true],
    ['header :value "gt" :comparator "i;ascii-numeric" "subject" "99999999999999999999"', true],
    ['header :value "eq" :comparator "i;ascii-numeric" "subject" "none"', true],
    ['header :value "ne" "x-missing" "x"', false],
    ['address :value "gt" "to" "f"', true],
    ['address :count "eq" :detail :comparator "i;ascii-numeric" "to" "2"', true],
    ['header :is :comparator "i;ascii-numeric" "x-priority" "0007"', true],
  ] as const)
    assert.equal(holds(text, RELATIONAL, { require }), isTrue, text);
  for (const text of [
    'header :contains :comparator "i;ascii-numeric" "a" "1"',
    'header :value "above" "a" "1"',
  ])
    assert.equal(errorsOf(`require ${JSON.stringify(require)}; if ${text} { }`).length, 1, text);
});

test('i;unicode-casemap ignores the case of all letters (RFC 5051)', () => {
  const require = ['comparator-i;unicode-casemap', 'variables', 'fileinto'];
  const message = 'Subject: =?utf-8?b?w4RwZmVsIPCfjY4gw6RwZmVs?=\n\n';
  const compared = (text: string) =>
    holds(`header ${text}`.replace('~', ':comparator "i;unicode-casemap"'), message, { require });
  assert.equal(compared(':contains ~ "subject" "äPFEL"'), true);
  assert.equal(compared(':matches ~ "subject" "?PFEL ? ?PFEL"'), true);
  assert.equal(compared(':matches "subject" "?PFEL ? ?PFEL"'), false);
  const script = `require ${JSON.stringify(require)};
    if header :matches :comparator "i;unicode-casemap" "subject" "*PFEL ? *" { fileinto "\${2}"; }`;
  assert.deepEqual(actionsOf(script, message), ['fileinto 🍎']);
});

test('flags are set as in RFC 5232', () => {
  const flags = (commands: string) =>
    actionsOf(`require ["imap4flags", "fileinto", "variables", "relational"]; ${commands}`);
  assert.deepEqual(flags('setflag "\\\\Deleted \\\\seen"; addflag ["\\\\Deleted", "$Work  a"];'), [
    'implicit keep [\\Deleted \\seen $Work a]',
  ]);
  assert.deepEqual(flags('addflag "a b c"; removeflag "B \\\\Seen"; keep;'), ['keep [a c]']);
  assert.deepEqual(flags('addflag ["\\\\Recent", "x(y", "ü", "", "ok"]; keep;'), ['keep [ok]']);
  assert.deepEqual(flags('addflag "a"; fileinto :flags "b" "x"; fileinto "y";'), [
    'fileinto x [b]',
    'fileinto y [a]',
  ]);
  assert.deepEqual(flags(`set "v" "\\\\Flagged"; addflag "v" "$W"; fileinto :flags "\${v}" "x";`), [
    'fileinto x [\\Flagged $W]',
  ]);
  // The last flags win where a message is filed twice (RFC 5232 section 3).
  assert.deepEqual(flags('keep :flags "a"; keep :flags "b";'), ['keep [b]']);
  for (const [text, isTrue] of [
    ['hasflag ["b", "a"]', true],
    ['hasflag "c"', false],
    ['hasflag :contains "v" "B"', true],
    ['hasflag :count "ge" "v" "2"', true],
    ['hasflag "v" "B"', true],
    ['hasflag "w" "b"', false],
  ] as const)
    assert.equal(flags(`setflag "a"; set "v" "b c b"; if ${text} { discard; }`).length, isTrue ? 0 : 1, text);
});

test('tests of folders end the run once, which goes on with all folders', () => {
  const folders = [
    { name: 'a', mailboxId: 'F1', specialUse: null },
    { name: 'b', mailboxId: 'F2', specialUse: '\\Junk' },
    { name: 'c', mailboxId: 'F3', specialUse: '\\Sent' },
  ];
  for (const [text, isTrue] of [
    ['mailboxexists ["a", "b"]', true],
    ['mailboxexists ["a", "d"]', false],
    ['mailboxidexists ["F1", "F2"]', true],
    ['mailboxidexists ["F1", "a"]', false],
    ['specialuse_exists "\\\\junk"', true],
    ['specialuse_exists ["\\\\Junk", "\\\\Sent"]', true],
    ['specialuse_exists ["\\\\Junk", "\\\\Trash"]', false],
    ['specialuse_exists "b" "\\\\Junk"', true],
    ['specialuse_exists "c" "\\\\Junk"', false],
  ] as const) {
    const script = `require ["mailbox", "mailboxid", "special-use"]; if ${text} { discard; }`;
    assert.deepEqual(run(script), { kind: 'needs', needed: { what: 'folders' } });
    assert.deepEqual(actionsOf(script, MESSAGE_A, { folders }), isTrue ? [] : ['implicit keep'], text);
  }
});

test('fileinto says how the mailbox is found', () => {
  const target = (text: string) => {
    const outcome = run(`require ["fileinto", "mailbox", "mailboxid", "special-use"]; ${text}`);
    assert.ok(outcome.kind === 'done', JSON.stringify(outcome));
    const [action] = outcome.actions;
    assert.ok(action?.kind === 'fileinto');
    const { line, script, header, ...rest } = action;
    assert.deepEqual([line, script, header], [1, undefined, undefined]);
    return rest;
  };
  const plain = { kind: 'fileinto', mailbox: 'a/b', flags: [] };
  const none = { mailboxId: undefined, specialUse: undefined, createsMailbox: false };
  assert.deepEqual(target('fileinto "a/b";'), { ...plain, ...none });
  assert.deepEqual(target('fileinto :create :mailboxid "F1" "a/b";'), {
    ...plain,
    mailboxId: 'F1',
    specialUse: undefined,
    createsMailbox: true,
  });
  assert.equal(target('fileinto :specialuse "\\\\Junk" "a/b";').specialUse, '\\Junk');
  for (const [text, message] of [
    ['fileinto :mailboxid "F1" :specialuse "\\\\Junk" "a";', /cannot be used with/],
    ['fileinto :specialuse "Junk" "a";', /needs an attribute/],
    ['fileinto "";', /not the name of a mailbox/],
  ] as const)
    assert.match(errorsOf(`require ["fileinto", "mailboxid", "special-use"]; ${text}`)[0] ?? '', message);
});

test('reject excludes actions that deliver or answer (RFC 5429 section 2.4)', () => {
  const script = (commands: string) => `require ["reject", "ereject", "fileinto", "vacation"]; ${commands}`;
  assert.deepEqual(actionsOf(script('reject "no";')), ['reject']);
  assert.deepEqual(actionsOf(script('ereject "no"; discard;')), ['reject']);
  for (const commands of [
    'reject "no"; keep;',
    'fileinto "x"; reject "no";',
    'reject "no"; redirect "a@b.example";',
    'reject "no"; ereject "no";',
    'vacation "away"; ereject "no";',
  ])
    assert.match(actionsOf(script(commands)).join(), /^failed: a message/, commands);
});

test('the environment and the spam score are those of the input', () => {
  const require = ['environment', 'spamtest', 'relational', 'comparator-i;ascii-numeric'];
  const environment = { name: 'Postrider', 'remote-host': '' };
  for (const [text, spamPercent, isTrue] of [
    ['environment "NAME" "postrider"', undefined, true],
    ['environment :contains "item" ""', undefined, false],
    ['environment :contains "remote-host" ""', undefined, true],
    ['environment :count "eq" "remote-host" "0"', undefined, true],
    ['environment "constructor" "x"', undefined, false],
    ['spamtest :value "eq" :comparator "i;ascii-numeric" "0"', undefined, true],
    ['spamtest :value "eq" :comparator "i;ascii-numeric" "1"', 0, true],
    ['spamtest :value "ge" :comparator "i;ascii-numeric" "5"', 50, true],
    ['spamtest "10"', 100, true],
  ] as const)
    assert.equal(holds(text, MESSAGE_A, { require, environment, spamPercent }), isTrue, text);
});

test('ihave makes an extension available, and puts off errors of others (RFC 5463)', () => {
  const script = (text: string) => `require "ihave"; ${text}`;
  assert.deepEqual(actionsOf(script('if ihave "fileinto" { fileinto "x"; }')), ['fileinto x']);
  assert.deepEqual(actionsOf(script('if ihave ["fileinto", "x-none"] { magic :a "x"; } else { keep; }')), [
    'keep',
  ]);
  assert.deepEqual(actionsOf(script('if allof (ihave "x-none", magic "a") { stop; }')), ['implicit keep']);
  assert.deepEqual(actionsOf(script('magic "x";')), ['failed: the command `magic` is unknown']);
  assert.deepEqual(actionsOf(script('error "no way";')), ['failed: no way']);
  // Other errors stay errors of the script.
  assert.equal(errorsOf(script('if ihave "x-none" { redirect "nobody"; }')).length, 1);
});
