import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action } from '../../../src/mail/sieve/actions.ts';
import { actionsOf, errorsOf, holds, MESSAGE_A, run } from './fixture.ts';

const DATES = `Received: from x by y; Thu, 26 Nov 2026 00:30:00 +0100
Received: from a by b;
 Wed, 25 Nov 2026 14:00:00 -0800 (PST)
Date: Wed, 25 Nov 2026 23:05:09 +0530
X-Bad: Wed, 31 Feb 2026 10:00:00 +0000
X-Worse: tomorrow
Subject: s

`;

test('dates are compared in parts (RFC 5260)', () => {
  const require = ['date', 'relational', 'index', 'comparator-i;ascii-numeric'];
  for (const [text, isTrue] of [
    ['date "date" "hour" "17"', true],
    ['date :originalzone "date" "hour" "23"', true],
    ['date :zone "-0100" "date" "time" "16:35:09"', true],
    ['date :originalzone "date" "iso8601" "2026-11-25T23:05:09+05:30"', true],
    ['date "date" "iso8601" "2026-11-25T17:35:09Z"', true],
    ['date :originalzone "date" "std11" "Wed, 25 Nov 2026 23:05:09 +0530"', true],
    ['date :originalzone "date" "zone" "+0530"', true],
    ['date "date" "zone" "+0000"', true],
    ['date "date" "julian" "61369"', true],
    ['date "date" "weekday" "3"', true],
    ['date "DATE" "Year" "2026"', true],
    ['date "date" "month" "11"', true],
    ['date "date" "day" "25"', true],
    ['date "date" "minute" "35"', true],
    ['date "date" "second" "09"', true],
    ['date "received" "date" "2026-11-25"', true],
    ['date :originalzone "received" "date" "2026-11-26"', true],
    ['date :index 2 "received" "hour" "22"', true],
    ['date :index 1 :last :originalzone "received" "zone" "-0800"', true],
    ['date :index 3 "received" "year" "2026"', false],
    ['date :matches "x-bad" "year" "*"', false],
    ['date :matches "x-worse" "year" "*"', false],
    ['date :count "eq" :comparator "i;ascii-numeric" "x-bad" "year" "0"', true],
    ['date :count "eq" :comparator "i;ascii-numeric" "date" "year" "1"', true],
    ['currentdate "iso8601" "2026-11-25T10:30:00Z"', true],
    ['currentdate :zone "+0100" "hour" "11"', true],
    [
      'allof (currentdate :value "ge" "date" "2026-11-01", currentdate :value "le" "date" "2026-11-30")',
      true,
    ],
    ['header :index 2 "received" "x"', false],
    ['header :index 2 :contains "received" "from a by b"', true],
    ['header :index 2 :contains ["date", "subject"] "s"', true],
  ] as const)
    assert.equal(holds(text, DATES, { require }), isTrue, text);
  for (const text of [
    'date :zone "+01:00" "date" "hour" "1"',
    'date :zone "+0100" :originalzone "date" "hour" "1"',
    'date "date" "century" "1"',
    'header :last "a" "b"',
    'header :index 0 "a" "b"',
  ])
    assert.equal(errorsOf(`require ${JSON.stringify(require)}; if ${text} { }`).length, 1, text);
});

const MULTIPART = `From: a@b.example
Subject: top
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

prologue
--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe
--inner
Content-Type: text/html

<p>Hello <b>world</b><script>hidden</script></p>
--inner--
--outer
Content-Type: application/pdf; name="=?utf-8?q?=C3=84rger.pdf?="
Content-Disposition: attachment; filename*=utf-8''%C3%84rger.pdf
Content-Transfer-Encoding: base64
Content-Md5: x

aGVsbG8gcGRm
--outer
Content-Type: message/rfc822

From: inner@b.example
Subject: nested

nested body
--outer--
epilogue
`;

test('bodies are compared raw, by content type and as text (RFC 5173)', () => {
  for (const [text, isTrue] of [
    ['body :raw :contains "Gr=FC=DFe"', true],
    ['body :raw :contains "prologue"', true],
    ['body :raw :contains "MIME-Version"', false],
    ['body :contains "GRÜßE"', false],
    ['body :contains "Grüße"', true],
    ['body :text :contains "hello world"', true],
    ['body :contains "hidden"', false],
    ['body :contains "<b>"', false],
    ['body :contains "nested body"', true],
    ['body :content "text/html" :contains "<b>world"', true],
    ['body :content "TEXT" :contains "Grüße"', true],
    ['body :content "application/pdf" :contains "hello pdf"', true],
    ['body :content "image" :contains ""', false],
    ['body :content "" :contains "hello pdf"', true],
    ['body :content "multipart" :contains "epilogue"', true],
    ['body :content "multipart" :contains "world"', false],
    ['body :content "message/rfc822" :contains "subject: nested"', true],
    ['body :content "message/rfc822" :contains "nested body"', false],
    ['body :content "text/" :contains "e"', false],
    ['body :matches "*world*"', true],
  ] as const)
    assert.equal(holds(text, MULTIPART, { require: ['body'] }), isTrue, text);
  assert.equal(holds('body :contains "birdseed"', MESSAGE_A, { require: ['body'] }), true);
  const script = `require ["body", "variables", "fileinto"];
    if header :matches "subject" "*" { if body :matches "*nested*" { fileinto "\${1}"; } }`;
  assert.deepEqual(actionsOf(script, MULTIPART), ['fileinto top']);
});

test('the first MiB of a body is compared, in its charset', () => {
  const long = `Content-Type: text/plain\n\nstart\n${'é'.repeat(530_000)} the end\n`;
  assert.equal(holds('body :contains "éé"', long, { require: ['body'] }), true);
  assert.equal(holds('body :contains "start"', long, { require: ['body'] }), true);
  assert.equal(holds('body :contains "the end"', long, { require: ['body'] }), false);
});

test('a hundred rules about a large body are no failure', () => {
  const rules = Array.from({ length: 100 }, (_, n) => `if body :contains "word ${n}" { stop; }\n`).join('');
  const message = `Content-Type: text/html\n\n${'<p>some text</p>\n'.repeat(5_000)}`;
  assert.deepEqual(actionsOf(`require "body"; ${rules}`, message), ['implicit keep']);
});

test('headers of parts are compared (RFC 5703 section 4)', () => {
  for (const [text, isTrue] of [
    ['header :mime :type "Content-Type" "multipart"', true],
    ['header :mime :subtype "content-type" "mixed"', true],
    ['header :mime :contenttype "content-type" "multipart/mixed"', true],
    ['header :mime :anychild :contenttype "content-type" "text/html"', true],
    ['header :mime :contenttype "content-type" "text/html"', false],
    ['header :mime :anychild :param ["x", "FileName"] "content-disposition" "Ärger.pdf"', true],
    ['header :mime :anychild :param "name" "content-type" "Ärger.pdf"', true],
    ['header :mime :anychild :type "content-disposition" "attachment"', true],
    ['header :mime :anychild :subtype "content-disposition" ""', true],
    ['header :mime :type "subject" ""', true],
    ['header :mime :anychild "subject" "nested"', true],
    ['header "subject" "nested"', false],
    ['address :mime :anychild "from" "inner@b.example"', true],
    ['exists :mime :anychild "content-md5"', true],
    ['exists :mime "content-md5"', false],
    ['header :mime :anychild :count "eq" :type "content-type" "6"', true],
  ] as const)
    assert.equal(holds(text, MULTIPART, { require: ['mime', 'relational'] }), isTrue, text);
  for (const text of ['header :anychild "a" "b"', 'header :type "a" "b"'])
    assert.match(errorsOf(`require "mime"; if ${text} { }`)[0] ?? '', /needs `:mime`/);
});

test('loops go over parts, depth first (RFC 5703 section 3)', () => {
  const loop = (commands: string) =>
    actionsOf(
      `require ["foreverypart", "mime", "variables", "fileinto", "extracttext", "include"]; ${commands} fileinto "\${v}";`,
      MULTIPART,
    ).join();
  const collect = `if header :mime :contenttype :matches "content-type" "*" { set "v" "\${v} \${1}"; }`;
  assert.equal(
    loop(`foreverypart { ${collect} }`),
    'fileinto  multipart/mixed multipart/alternative text/plain text/html application/pdf message/rfc822',
  );
  assert.equal(
    loop(
      `foreverypart { if header :mime :subtype "content-type" "alternative" { foreverypart { ${collect} } break; } }`,
    ),
    'fileinto  text/plain text/html',
  );
  assert.equal(
    loop(`foreverypart :name "a" { foreverypart { foreverypart { ${collect} break :name "a"; } } }`),
    'fileinto  text/plain',
  );
  const extract = `if header :mime :type "content-type" "text" { extracttext :upper :first 4 "x"; set "v" "\${v}\${x}"; }`;
  assert.equal(loop(`foreverypart { ${extract} }`), 'fileinto GRüß<P>H');
  for (const [text, message] of [
    ['break;', /outside of a loop/],
    ['foreverypart { break :name "a"; }', /no loop here has the name `a`/],
    ['extracttext "x";', /outside of a loop/],
    [
      'foreverypart { foreverypart { foreverypart { foreverypart { foreverypart { } } } } }',
      /more than 4 deep/,
    ],
  ] as const)
    assert.match(errorsOf(`require ["foreverypart", "extracttext", "variables"]; ${text}`)[0] ?? '', message);
});

/** Returns the header that the last action has, with LF. */
function headerOf(commands: string, message = 'A: 1\nB: two\nA: 3\n\nbody\n'): string | undefined {
  const outcome = run(`require ["editheader", "index", "fileinto", "relational"]; ${commands}`, message);
  assert.ok(outcome.kind === 'done', JSON.stringify(outcome));
  const header = outcome.actions.at(-1)?.header;
  return header && Buffer.from(header).toString().replaceAll('\r\n', '\n');
}

test('the header is edited (RFC 5293)', () => {
  for (const [commands, header] of [
    ['keep;', undefined],
    ['addheader "X-New" "v";', 'X-New: v\nA: 1\nB: two\nA: 3\n\n'],
    ['addheader :last "X-New" " v\n w ";', 'A: 1\nB: two\nA: 3\nX-New: v w\n\n'],
    ['addheader "X" "Grüße";', 'X: =?UTF-8?B?R3LDvMOfZQ==?=\nA: 1\nB: two\nA: 3\n\n'],
    ['deleteheader "a";', 'B: two\n\n'],
    ['deleteheader :index 2 "a";', 'A: 1\nB: two\n\n'],
    ['deleteheader :index 1 :last "a";', 'A: 1\nB: two\n\n'],
    ['deleteheader :contains "b" "w";', 'A: 1\nA: 3\n\n'],
    ['deleteheader :contains "b" "x";', undefined],
    ['deleteheader :value "gt" "a" "2";', 'A: 1\nB: two\n\n'],
    ['deleteheader "a"; addheader "A" "4"; if header "a" "4" { deleteheader "b"; }', 'A: 4\n\n'],
  ] as const)
    assert.equal(headerOf(commands), header, commands);
  // Each action has the header of its time.
  assert.equal(
    headerOf('addheader "X" "1"; fileinto "a"; addheader "Y" "1"; discard;')?.startsWith('X: 1\nA: 1'),
    true,
  );
  const traced = 'Received: x\nAuto-Submitted: no\n\n';
  assert.equal(headerOf('deleteheader "received"; deleteheader "auto-submitted";', traced), undefined);
  // Fields of servers are neither removed nor made.
  for (const name of ['Received', 'Return-Path', 'Delivered-To', 'Authentication-Results', 'ARC-Seal'].concat(
    ['DKIM-Signature', 'X-Postrider-Forwarded'],
  ))
    assert.equal(
      headerOf(`deleteheader "${name}"; addheader "${name}" "x";`, `${name}: a\n\n`),
      undefined,
      name,
    );
});

test('edits are checked and bounded', () => {
  for (const [text, message] of [
    ['addheader "a b" "v";', /not the name of a header field/],
    ['addheader "ü" "v";', /not the name of a header field/],
    ['deleteheader "a:";', /not the name of a header field/],
    ['deleteheader :is "a";', /needs patterns/],
    ['deleteheader :last "a";', /needs `:index`/],
  ] as const)
    assert.match(errorsOf(`require ["editheader", "index"]; ${text}`)[0] ?? '', message);
  const growing = `set "v" "${'x '.repeat(1_900)}"; ${`addheader "X" "\${v}";`.repeat(100)}`;
  assert.deepEqual(actionsOf(`require ["editheader", "variables"]; ${growing}`), [
    'failed: the header becomes too large',
  ]);
  assert.deepEqual(actionsOf(`require "editheader"; addheader "X" "${'x'.repeat(5_000)}";`), [
    'failed: a header field may have 4096 characters',
  ]);
});

test('a message is a duplicate by a key, which is remembered (RFC 7352)', () => {
  const message = 'Message-ID: <1@b.example>\nX-Id: <1@b.example>\n\n';
  const keyOf = (text: string) => {
    const outcome = run(`require ["duplicate"]; if duplicate ${text} { discard; }`, message);
    return outcome.kind === 'done' ? outcome.remembered[0]?.key : undefined;
  };
  const key = keyOf('') ?? '';
  assert.match(key, /^[0-9a-f]{64}$/);
  assert.equal(keyOf(':header "x-id"'), key);
  assert.equal(keyOf(':uniqueid "<1@b.example>"'), key);
  assert.notEqual(keyOf(':handle "h"'), key);
  assert.equal(keyOf(':header "none"'), undefined);
  assert.equal(keyOf(':header "no name:"'), undefined);
  assert.equal(keyOf(':seconds 0'), undefined);
  for (const [tags, isDuplicate, remembered, actions] of [
    ['', false, [{ key, seconds: 604_800 }], 1],
    ['', true, [], 0],
    [':last', true, [{ key, seconds: 604_800 }], 0],
    [':seconds 60', false, [{ key, seconds: 60 }], 1],
    [':seconds 1G', false, [{ key, seconds: 2_592_000 }], 1],
  ] as const) {
    const script = `require ["duplicate"]; if duplicate ${tags} { discard; }`;
    const outcome = run(script, message, { duplicates: isDuplicate ? [key] : [] });
    assert.ok(outcome.kind === 'done');
    assert.deepEqual(outcome.remembered, remembered, tags);
    assert.equal(outcome.actions.length, actions);
  }
  const many = Array.from({ length: 33 }, (_, n) => `if duplicate :uniqueid "${n}" { }`).join('');
  const outcome = run(`require "duplicate"; ${many}`);
  assert.ok(outcome.kind === 'failed');
  assert.equal(outcome.error.message, 'a script may remember 32 keys of `duplicate`');
  assert.equal(outcome.remembered.length, 32, 'it may fail because one of them is not new');
  assert.match(
    errorsOf('require "duplicate"; if duplicate :header "a" :uniqueid "b" { }')[0] ?? '',
    /cannot be used/,
  );
});

function firstAction<Kind extends Action['kind']>(
  kind: Kind,
  script: string,
): Extract<Action, { kind: Kind }> {
  const outcome = run(script);
  assert.ok(outcome.kind === 'done', JSON.stringify(outcome));
  const action = outcome.actions.find((one) => one.kind === kind);
  return action as Extract<Action, { kind: Kind }>;
}

test('vacation answers, and leaves the implicit keep (RFC 5230, RFC 6131)', () => {
  const vacation = (text: string) =>
    firstAction(
      'vacation',
      `require ["vacation", "vacation-seconds", "variables", "fcc", "imap4flags"]; ${text}`,
    );
  const { line, script, header, handle, ...rest } = vacation(
    'vacation :days 23 :addresses ["tjs@example.edu", "ts4z@landru.example.edu"] :subject "Away" :from "Me <me@example.com>" "until October";',
  );
  assert.deepEqual([line, script, header], [1, undefined, undefined]);
  assert.match(handle, /^[0-9a-f]{64}$/);
  assert.deepEqual(rest, {
    kind: 'vacation',
    seconds: 23 * 86_400,
    addresses: ['tjs@example.edu', 'ts4z@landru.example.edu'],
    subject: 'Away',
    from: 'Me <me@example.com>',
    reason: 'until October',
    isMime: false,
    copy: undefined,
  });
  assert.deepEqual(actionsOf('require "vacation"; vacation "x";'), ['vacation', 'implicit keep']);
  for (const [tags, seconds] of [
    ['', 604_800],
    [':days 0', 86_400],
    [':days 1000', 31_536_000],
    [':seconds 1800', 1_800],
    [':seconds 0', 60],
    [':seconds 2147483648', 31_536_000],
  ] as const)
    assert.equal(vacation(`vacation ${tags} "x";`).seconds, seconds, tags);
  assert.deepEqual(vacation('vacation :fcc "Sent" :flags "\\\\Seen" "x";').copy, {
    mailbox: 'Sent',
    mailboxId: undefined,
    specialUse: undefined,
    createsMailbox: false,
    flags: ['\\Seen'],
  });
  const handleOf = (text: string) => vacation(text).handle;
  assert.equal(handleOf('vacation :handle "a" "x";'), handleOf('vacation :handle "a" :subject "s" "y";'));
  assert.notEqual(handleOf('vacation "x";'), handleOf('vacation :subject "x" "";'));
  // Variables are not replaced before answers are told apart (RFC 5230 section 4.2).
  const automatic = `if header :matches "subject" "*" { vacation :subject "Re: \${1}" "away"; }`;
  assert.equal(handleOf(automatic), handleOf(`set "a" "1"; ${automatic}`));
  assert.equal(vacation(automatic).subject, 'Re: I have a present for you');
});

test('vacation is checked', () => {
  for (const [text, message] of [
    ['vacation :days 1 :seconds 1 "x";', /cannot be used with/],
    ['vacation :seconds 2147483649 "x";', /at most/],
    ['vacation :from "nobody" "x";', /needs one email address/],
    ['vacation :flags "a" "x";', /`:flags` needs `:fcc`/],
    ['vacation :mime "Subject: ü\n\nx";', /must be ASCII/],
  ] as const)
    assert.match(errorsOf(`require ["vacation-seconds", "fcc", "imap4flags"]; ${text}`)[0] ?? '', message);
  assert.deepEqual(actionsOf('require "vacation"; vacation "a"; vacation "b";'), [
    'failed: a message can be answered by `vacation` once',
  ]);
});

test('notifications are mail to the addresses of a URI (RFC 5436)', () => {
  const notify = (text: string) =>
    firstAction('notify', `require ["enotify", "variables", "fcc", "mailbox"]; ${text}`);
  const { line, script, header, ...rest } = notify(
    'notify :importance "3" :from "me@example.com" :message "From list" :fcc "Sent" :create "mailto:0123456789@sms.example.net?to=backup@example.com&cc=c@d.example&subject=s&body=a%20b&X-Note=n&from=evil@e.example&auto-submitted=no";',
  );
  assert.deepEqual([line, script, header], [1, undefined, undefined]);
  assert.deepEqual(rest, {
    kind: 'notify',
    to: ['0123456789@sms.example.net', 'backup@example.com'],
    cc: ['c@d.example'],
    from: 'me@example.com',
    importance: 3,
    subject: 'From list',
    body: 'a b',
    fields: [{ name: 'x-note', value: 'n' }],
    copy: { mailbox: 'Sent', mailboxId: undefined, specialUse: undefined, createsMailbox: true, flags: [] },
  });
  assert.equal(notify('notify "mailto:a@b.example?subject=Hi";').subject, 'Hi');
  assert.deepEqual(actionsOf('require "enotify"; notify "mailto:a@b.example";'), ['notify', 'implicit keep']);
  const automatic = 'Auto-Submitted: auto-replied\n\n';
  assert.deepEqual(actionsOf('require "enotify"; notify "mailto:a@b.example";', automatic), [
    'implicit keep',
  ]);
  for (const uri of [
    '',
    'mailto:',
    'xmpp:tim@example.com',
    'mailto:nobody',
    'mailto:a@b.example?x',
    'mailto:a@b.example?subject=%FF',
    'mailto:a@b.example%0d%0ac@d.example',
    'mailto:a@b.c1.example,a@b.c2.example,a@b.c3.example,a@b.c4.example,a@b.c5.example',
  ]) {
    assert.equal(errorsOf(`require "enotify"; notify "${uri}";`).length, 1, uri);
    assert.equal(
      holds(`valid_notify_method ["mailto:a@b.example", "${uri}"]`, MESSAGE_A, { require: ['enotify'] }),
      false,
    );
  }
  for (const [text, isTrue] of [
    ['valid_notify_method "mailto:a@b.example"', true],
    ['notify_method_capability "mailto:a@b.example" "Online" "maybe"', true],
    ['notify_method_capability "mailto:a@b.example" "online" "yes"', false],
    ['notify_method_capability "mailto:a@b.example" "other" "maybe"', false],
    ['notify_method_capability "tel:1" "online" "maybe"', false],
  ] as const)
    assert.equal(holds(text, MESSAGE_A, { require: ['enotify'] }), isTrue, text);
  const many = [1, 2, 3, 4, 5].map((n) => `notify "mailto:a${n}@b.example";`).join('');
  assert.deepEqual(actionsOf(`require "enotify"; ${many}`), ['failed: a script may send 4 notifications']);
});
