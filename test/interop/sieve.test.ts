/**
 * Compares the actions of generated scripts for generated messages with those of Pigeonhole, the Sieve of Dovecot. Scripts leave out what
 * Pigeonhole does in another way than the RFCs say:
 *
 * - Texts are ordered as if letters were small (RFC 4790 section 9.2.1), and an empty text is not equal to other texts that are no numbers
 *   (section 9.1.1).
 * - Flags that are not valid are kept (RFC 5232 section 2).
 * - Texts are cut between octets of a character (RFC 5703 section 7), and parts of fields other than Content-Type and Content-Disposition
 *   are missing instead of blank (section 4.1).
 * - `date :index` takes another field where there are too few (RFC 5260 section 6).
 * - A `fileinto` that repeats one with `:copy` leaves the implicit keep (RFC 3894 section 3).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Action } from '../../src/mail/sieve/actions.ts';
import { checkScript } from '../../src/mail/sieve/check.ts';
import { runScript } from '../../src/mail/sieve/run-script.ts';
import { inputOf } from '../mail/sieve/fixture.ts';
import { brokenScripts } from '../mail/sieve/grammar.ts';
import { unpackPigeonhole } from './pigeonhole.ts';

const RUNS = 400;
const AT_A_TIME = 4;

const FROM = 'ann+list@sender.example';
const TO = 'me+box@example.com';

const pick = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const listOf = (item: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => `[${items.map(quote).join(', ')}]`);
const words = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((all) => all.filter((part) => part !== '').join(' '));

const REQUIRE = [
  ...['fileinto', 'envelope', 'encoded-character', 'comparator-i;ascii-numeric', 'copy', 'body', 'variables'],
  ...['relational', 'date', 'index', 'subaddress', 'imap4flags', 'editheader', 'mime', 'foreverypart'],
  ...['extracttext', 'vacation', 'environment', 'ihave'],
];

const REQUIRED_BY_SLIPS = [
  ...REQUIRE.filter((name) => name !== 'ihave'),
  ...['mailbox', 'special-use', 'vacation-seconds', 'include', 'duplicate', 'enotify', 'reject'],
];

const fieldNames = pick('subject', 'From', 'to', 'X-A', 'x-number', 'received', 'missing', 'content-type');
const addressNames = pick('from', 'To', 'cc', 'sender');
const keys = pick(
  ...[
    '',
    'a',
    'hello',
    'Hello World',
    'ann@sender.example',
    'sender.example',
    'ann',
    'me+box',
    'list',
    'GRÜßE',
    'Grüße',
  ],
  ...[
    '*',
    '?',
    '*o*',
    '*a*a*',
    'h?llo*',
    '*@*',
    '\\*',
    '*\\?*',
    'x**y',
    '10',
    '9',
    '007',
    '1',
    '2',
    `\${v}`,
    `\${1}`,
    'text/plain',
  ],
);
const relation = pick('gt', 'ge', 'lt', 'le', 'eq', 'ne').map(quote);
const match = pick(
  ...['', ':is', ':contains', ':matches', ':matches'],
  ...[':comparator "i;octet"', ':contains :comparator "i;octet"'],
);
/** Numbers, and a text that is none. An empty text is left out: for Pigeonhole it is no number, but not equal to others. */
const numericKeys = pick('10', '9', '007', '1', '2', '0', 'none');
const numeric = words(
  fc.oneof(pick(':is'), words(pick(':value', ':count'), relation)),
  pick(':comparator "i;ascii-numeric"'),
);
const count = words(pick(':count'), relation, pick(':comparator "i;ascii-numeric"'));
/** Texts without characters between `Z` and `a`, which Pigeonhole orders as if letters were small. */
const orderKeys = pick('', 'a', 'hello', 'ann', 'x', '2026', '10');
const index = pick('', '', ':index 1', ':index 2', ':index 1 :last', ':index 2 :last');
const part = pick('', ':all', ':localpart', ':domain', ':user', ':detail');
const datePart = pick(
  'year',
  'month',
  'day',
  'date',
  'julian',
  'hour',
  'minute',
  'second',
  'time',
  'iso8601',
  'zone',
  'weekday',
);
const zone = pick(':zone "+0000"', ':zone "-0330"', ':originalzone');
const mimeOption = pick('', ':type', ':subtype', ':contenttype');
const mimeParam = pick(':param "name" :is', ':param ["charset", "x"] :contains');

const leafTest = fc.oneof(
  words(pick('header'), index, match, listOf(fieldNames), listOf(keys)),
  words(pick('address'), index, match, part, listOf(addressNames), listOf(keys)),
  words(pick('envelope'), match, part, pick('"from"', '"to"', '["from", "to"]'), listOf(keys)),
  words(pick('header :value'), relation, index, listOf(fieldNames), listOf(orderKeys)),
  words(pick('address :value'), relation, part, listOf(addressNames), listOf(orderKeys)),
  words(pick('header'), index, numeric, listOf(pick('x-number', 'missing')), listOf(numericKeys)),
  words(pick('address'), index, count, part, listOf(addressNames), listOf(numericKeys)),
  words(pick('envelope'), count, part, pick('"from"', '["from", "to"]'), listOf(numericKeys)),
  words(pick('string'), numeric, listOf(numericKeys), listOf(numericKeys)),
  words(pick('exists'), listOf(fieldNames)),
  words(pick('size'), pick(':over', ':under'), pick('10', '1K', '300')),
  words(pick('string'), match, listOf(keys), listOf(keys)),
  words(
    pick('hasflag'),
    pick('', ':is', ':contains', ':count "ge" :comparator "i;ascii-numeric"'),
    listOf(pick('a', '\\Seen', 'b', 'A', '1')),
  ),
  words(
    pick('body :contains'),
    pick('', ':raw', ':text', ':content "text"', ':content ["text/html", "message/rfc822"]'),
    listOf(keys),
  ),
  words(pick('body :raw'), pick(':is', ':matches'), listOf(keys)),
  words(
    pick('date'),
    pick('', ':index 1', ':index 1 :last'),
    zone,
    match,
    pick('"date"', '"received"', '"x-a"'),
    datePart.map(quote),
    listOf(pick('2026', '11', '*', '2*', '61369', '-0330', '3')),
  ),
  words(
    pick('header :mime'),
    pick('', ':anychild'),
    mimeOption,
    match,
    pick('"content-type"', '"content-disposition"'),
    listOf(keys),
  ),
  words(
    pick('header :mime'),
    pick('', ':anychild'),
    mimeParam,
    pick('"content-type"'),
    listOf(pick('a.txt', 'y', 'ISO')),
  ),
  words(pick('header :mime :anychild'), match, pick('"subject"', '"x-a"'), listOf(keys)),
  words(pick('exists :mime :anychild'), listOf(fieldNames)),
  pick('true', 'false', 'ihave "copy"', 'ihave "none"'),
);
const { test: tests } = fc.letrec<{ test: string }>((tie) => ({
  test: fc.oneof(
    { depthSize: 'small' },
    leafTest,
    tie('test').map((text) => `not ${text}`),
    fc
      .tuple(pick('allof', 'anyof'), fc.array(tie('test'), { minLength: 1, maxLength: 3 }))
      .map(([name, all]) => `${name} (${all.join(', ')})`),
  ),
}));
const modifier = pick('', '', ':lower', ':upper', ':upperfirst :lower', ':length', ':quotewildcard');
const action = fc.oneof(
  words(pick('fileinto'), pick('', ':flags "x y"'), pick('"a"', '"b/c"', `"v \${v}"`)),
  pick('fileinto :copy "copied"'),
  words(
    pick('set'),
    modifier,
    pick('"v"', '"w"'),
    pick('"x"', `"a \${1}"`, `"\${v}\${0}"`, '"Hello *"', `"\${hex:41}e"`),
  ),
  pick('keep', 'discard', 'stop', 'redirect "r@d.example"', 'redirect :copy "s@d.example"'),
  pick('addflag "a"', 'setflag ["b", "\\\\Seen"]', 'removeflag "B"', 'addflag "f" "x x y"'),
  pick(
    'addheader "X-A" "new"',
    'addheader :last "X-B" "new"',
    'deleteheader "x-a"',
    'deleteheader :index 1 :last "x-a"',
    'deleteheader :contains "subject" "o"',
  ),
  pick('vacation "away"', `vacation :days 3 :subject "S \${1}" "away"`),
);
const command = fc.oneof(
  { weight: 2, arbitrary: action.map((text) => `${text};`) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(tests, action, action)
      .map(([test_, a, b]) => `if ${test_} { ${a}; set "v" "\${v}+\${1}"; } else { ${b}; }`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(leafTest, leafTest)
      .map(
        ([a, b]) =>
          `foreverypart { if ${a} { set "v" "\${v}."; } elsif allof (not header :mime :subtype "content-type" "html", ${b}) { extracttext :first 5 "w"; set "v" "\${v}<\${w}>"; } }`,
      ),
  },
);
/** The last command shows what is in the variables. */
const scripts = fc
  .array(command, { minLength: 1, maxLength: 4 })
  .map(
    (all) =>
      `require [${REQUIRE.map(quote).join(', ')}];\n${all.join('\n')}\nfileinto :copy "=\${v}|\${w}|\${f}|\${0}|\${1}|\${2}|\${3}";\n`,
  );

const field = fc.oneof(
  pick(
    'Subject: hello',
    'Subject: Hello World',
    'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= a*b?',
    'Subject:',
    'Subject: x**y',
  ),
  pick(
    'X-A: a',
    'X-A: banana',
    'X-A: =?iso-8859-1?q?=E9?= folded\n next',
    'X-A: Wed, 25 Nov 2026 10:00:00 +0100',
  ),
  pick('X-Number: 10', 'X-Number: 007', 'X-Number: 9x', 'X-Number: none'),
  pick(
    'To: Me <me+box@example.com>',
    'To: a@b.example, "x y"@c.example',
    'To: group: a@b.example, ann@sender.example;',
  ),
  pick(
    'Cc: (comment) me@example.com',
    'Cc: Ann <ann+list@sender.example>',
    'Cc: <@route.example:d@e.example>',
  ),
  pick(
    'Sender: ann@sender.example',
    'From: "Ann B." <ann@sender.example>',
    'From: ann+list@sender.example (Ann)',
  ),
  pick(
    'Received: by a; Thu, 26 Nov 2026 00:30:00 +0100',
    'Received: from b by c;\n Wed, 25 Nov 2026 14:00:00 -0800 (PST)',
  ),
  pick('Date: Wed, 25 Nov 2026 23:05:09 +0530', 'Date: 25 Nov 2026 10:00 GMT', 'Date: tomorrow'),
);
const body = pick(
  'Content-Type: text/plain; charset=utf-8\n\nhello wörld\n',
  'Content-Type: text/plain; charset=iso-8859-1; x=y\nContent-Transfer-Encoding: quoted-printable\n\nhello Gr=FC=DFe, a long =\nline\n',
  'Content-Type: multipart/mixed; boundary=o\n\nprologue\n--o\nContent-Type: text/plain; name="a.txt"\n\nhello\n--o\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+aGVsbG88L3A+\n--o--\nepilogue\n',
  'Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/alternative; boundary=i\n\n--i\n\nplain a\n--i\nContent-Type: text/html; charset=utf-8\n\n<b>hello world</b>\n--i--\n\n--o\nContent-Type: message/rfc822\n\nSubject: hello inside\nX-A: in\n\ninner\n--o\nContent-Disposition: attachment; name=n\n\nx\n--o--\n',
  '\nno type\n',
);
const messages = fc
  .tuple(fc.array(field, { maxLength: 7 }), body)
  .map(([fields, rest]) => fields.map((line) => `${line}\n`).join('') + rest);

const byCase = (first: string, second: string) => (first.toLowerCase() < second.toLowerCase() ? -1 : 1);

function describe(action: Action): string {
  const flags = (list: readonly string[]) =>
    [...list]
      .sort(byCase)
      .map((flag) => ` ${flag}`)
      .join('');
  if (action.kind === 'keep') return `INBOX${flags(action.flags)}`;
  if (action.kind === 'fileinto') return `${action.mailbox.trim()}${flags(action.flags)}`;
  if (action.kind === 'redirect') return `<${action.address}>`;
  if (action.kind === 'vacation') return `vacation ${action.seconds} ${action.subject ?? ''}`.trim();
  return action.kind;
}

function ours(script: string, message: string): string[] {
  const checked = checkScript(script);
  if (checked.kind === 'invalid') return [`error: ${JSON.stringify(checked.errors)}`];
  const outcome = runScript(checked.script, { ...inputOf(message), envelope: { from: FROM, to: TO } });
  if (outcome.kind === 'done') return outcome.actions.map(describe);
  return [`error: ${JSON.stringify(outcome)}`];
}

/** Returns the actions of Pigeonhole in the form of ours. It lists the implicit keep behind the others, as we do. */
function theirs(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, mailbox] = /^(?:implicit )?\* store message in folder: ([^\n]*)/.exec(line) ?? [];
    const [, flags = ''] = /\n\+ add IMAP flags: ([^\n]*)/.exec(line) ?? [];
    if (mailbox !== undefined) return [[mailbox, ...flags.split(' ').sort(byCase)].join(' ').trim()];
    const [, address] = /^\* redirect message to: (\S+)/.exec(line) ?? [];
    if (address !== undefined) return [address];
    if (line.startsWith('* discard')) return [];
    const [, seconds, subject = ''] =
      /^\* send vacation message:\n=> seconds : (\d+)(?:\n=> subject : ([^\n]*))?/.exec(line) ?? [];
    return [seconds === undefined ? line : `vacation ${seconds} ${subject}`.trim()];
  });
}

/**
 * Returns true for cases that cannot be compared: Pigeonhole shortens long names of mailboxes in its output, does not
 * find the parts behind a multipart in a multipart by `:anychild`, and aborts or misreads a body whose header the script has edited.
 */
function isLeftOut(script: string, message: string, lines: readonly string[]): boolean {
  const isEdited = /\b(?:add|delete)header\b/.test(script) && /\bbody\b|:mime|foreverypart/.test(script);
  const isNested = script.includes(':anychild') && message.includes('boundary=i');
  return isEdited || isNested || lines.join().includes('...');
}

/** Extensions that Pigeonhole lacks, and those whose scripts it cannot compile alone. */
const NOT_COMPARED = /mailboxid|fcc|ereject|unicode-casemap|spamtest|ihave|\berror\b|include /;

test('scripts that Pigeonhole refuses are refused', async () => {
  const pigeonhole = await unpackPigeonhole();
  const scriptTexts = fc
    .sample(brokenScripts, { numRuns: RUNS, seed: 1 })
    .map((text) => text.slice(text.indexOf('];') + 2))
    .filter((text) => !NOT_COMPARED.test(text))
    .map((text) => `require [${REQUIRED_BY_SLIPS.map(quote).join(', ')}];${text}`);
  const accepted = scriptTexts.filter((text) => checkScript(text).kind === 'valid');
  const refused: string[] = [];
  for (const text of accepted) if (!(await pigeonhole.compiles(text))) refused.push(text);
  assert.deepEqual(refused, []);
  assert.ok(accepted.length > 20, String(accepted.length));
});

test('generated scripts take the actions that Pigeonhole takes', async () => {
  const pigeonhole = await unpackPigeonhole();
  const cases = fc.sample(fc.tuple(scripts, messages), { numRuns: RUNS, seed: 1 });
  const differences: unknown[] = [];
  const queue = cases.values();
  const work = async () => {
    for (const [script, message] of queue) {
      const input = inputOf(message);
      const lines = await pigeonhole.run({
        script,
        message: Buffer.from(input.message.octets),
        from: FROM,
        to: TO,
      });
      if (!lines || isLeftOut(script, message, lines)) continue;
      const expected = theirs(lines);
      const actual = ours(script, message);
      const isError = [expected, actual].map(([first = '']) => first.startsWith('error'));
      const isSame =
        isError[0] && isError[1]
          ? true
          : JSON.stringify(expected).toLowerCase() === JSON.stringify(actual).toLowerCase();
      if (!isSame) differences.push({ script, message, expected, actual });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  assert.deepEqual(differences, []);
});
