/**
 * Compares the order and the threads of generated messages with the answers of Dovecot. Dates without a time are left out: they are
 * midnight (RFC 5256 section 2.2), and Dovecot does not read them.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeThreads } from '../../src/mail/imap/encode/search.ts';
import { Cursor } from '../../src/mail/imap/parser/cursor.ts';
import { parseSort } from '../../src/mail/imap/parser/search.ts';
import { sortMessages } from '../../src/mail/imap/sort.ts';
import { threadMessages } from '../../src/mail/imap/thread.ts';
import { readMailboxMessage } from '../../src/mail/mailbox-message/read.ts';
import { finishSteps } from '../../src/system/steps.ts';
import { type DatedMessage, unpackDovecot } from './dovecot.ts';

const MAILBOXES = 60;
const MAX_MESSAGES = 40;

const ids = fc.constantFrom(
  ...['<a@x>', '<b@x>', '<c@x>', '<d@x>', '<e@x>', '<f@x>', '<g@x>', '<h@x>', '<A@x>', '<"b"@x>', '<i@x>'],
);
const idLists = (name: string, maxLength: number) =>
  fc.array(ids, { minLength: 1, maxLength }).map((list) => `${name}: ${list.join(' ')}`);
const subjects = fc
  .tuple(
    fc.constantFrom(
      '',
      '',
      'Re: ',
      'RE : ',
      'Fwd: ',
      'Re:[x] ',
      're[2]: ',
      'Re: [list] ',
      '[list] ',
      'fw: re: ',
      '[blob][list] ',
    ),
    fc.constantFrom(
      'one',
      'ONE',
      'two',
      'three',
      'Ärger',
      '=?utf-8?Q?=C3=A4rger?=',
      '',
      '[four]',
      '[fwd: re: two]',
      '[Fwd: one (fwd)]',
      'a  b',
      '\u{1f600}',
      '\ufb01',
    ),
    fc.constantFrom('', '', ' (fwd)', ' (FWD) (fwd)'),
  )
  .map(([before, base, after]) => `Subject: ${before}${base}${after}`);
const addresses = (name: string) =>
  fc
    .constantFrom(
      ...[
        'a@x',
        'B@x',
        '"Zoe" <b@y>',
        '=?utf-8?Q?=C3=84nne?= <c@x>',
        'anna <d@x>',
        'C@x, a@x',
        '"" <e@x>',
        'f',
      ],
    )
    .map((value) => `${name}: ${value}`);
const dates = fc
  .constantFrom(
    ...[
      'Tue, 25 Nov 2025 10:00:00 +0100',
      'Tue, 25 Nov 2025 10:00:00 -0100',
      'Wed, 26 Nov 2025 10:00:00 +0000',
    ],
    ...[
      '25 Nov 2025 09:00:00 GMT',
      'Thu, 27 Nov 2025 08:00:00 +0900',
      'Mon, 24 Nov 2025 00:00:00 +0000',
      'yesterday',
    ],
  )
  .map((value) => `Date: ${value}`);
const optional = (field: fc.Arbitrary<string>) => fc.option(field, { nil: undefined, freq: 4 });

const messages: fc.Arbitrary<DatedMessage> = fc
  .tuple(
    fc.tuple(
      optional(ids.map((id) => `Message-ID: ${id}`)),
      fc.option(idLists('References', 5), { nil: undefined, freq: 1 }),
      fc.option(idLists('In-Reply-To', 2), { nil: undefined, freq: 1 }),
      optional(subjects),
      optional(dates),
      optional(addresses('From')),
      optional(addresses('To')),
      optional(addresses('Cc')),
    ),
    fc.nat(60),
    fc.nat(9),
  )
  .map(([fields, size, day]) => ({
    octets: Buffer.from(
      `${fields.filter((field) => field !== undefined).join('\r\n')}\r\nX: y\r\n\r\n${'x'.repeat(size)}\r\n`,
    ),
    internalAt: Date.UTC(2025, 10, 20 + day),
  }));

const SORTS = [
  ...['ARRIVAL', 'CC', 'DATE', 'DISPLAYFROM', 'DISPLAYTO', 'FROM', 'SIZE', 'SUBJECT', 'TO'],
  ...['REVERSE SUBJECT', 'SUBJECT DATE', 'REVERSE DATE SIZE', 'FROM REVERSE TO DATE', 'DATE DATE'],
];
const THREADS = ['ORDEREDSUBJECT', 'REFERENCES'] as const;

test('the order and the threads of generated messages are those of Dovecot', async () => {
  const dovecot = await unpackDovecot();
  const mailboxes = fc.sample(fc.array(messages, { minLength: 1, maxLength: MAX_MESSAGES, size: 'max' }), {
    numRuns: MAILBOXES,
    seed: 1,
  });
  for (const mailbox of mailboxes) {
    const rows = await Promise.all(mailbox.map(rowOf));
    const sorts = SORTS.map((criteria) => `(${criteria}) UTF-8 ALL`);
    const commands = [
      ...sorts.map((args) => `SORT ${args}`),
      ...THREADS.map((algorithm) => `THREAD ${algorithm} UTF-8 ALL`),
    ];
    const answers = await dovecot.ask(mailbox, commands);
    const ours = [
      ...sorts.map((args) => {
        const { criteria } = parseSort(new Cursor(Buffer.from(` ${args}`)));
        return `* SORT ${finishSteps(sortMessages(rows, criteria)).join(' ')}`;
      }),
      ...THREADS.map((algorithm) =>
        finishSteps(writeThreads(finishSteps(threadMessages(algorithm, rows)))).trimEnd(),
      ),
    ];
    const text = mailbox.map(({ octets }, index) => `${index + 1}: ${octets}`).join('\n');
    for (const [index, answer] of ours.entries())
      assert.equal(answer, answers[index], `${commands[index]}\n${text}`);
  }
});

async function rowOf({ octets, internalAt }: DatedMessage, index: number) {
  const { sort, thread } = await readMailboxMessage(octets);
  return { number: index + 1, internalAt, sizeBytes: octets.length, keys: sort, thread };
}
