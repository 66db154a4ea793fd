import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { badUrl, type MessageUrl, parseMessageUrl } from '../../../src/mail/imap/message-url.ts';

const MAX = 2 ** 32 - 1;
const level = fc
  .string({
    unit: fc.constantFrom('a', 'B', ' ', '%', ';', '/', '.', '&', 'ä', '\u{1f600}', '?', '=', ':'),
    minLength: 1,
  })
  .map((name) => name.replaceAll('/', '~'));
const mailboxes = fc
  .array(level, { minLength: 1, maxLength: 3 })
  .map((levels) => levels.join('/').replace(/^inbox(?=\/|$)/i, 'INBOX'));
const number = fc.integer({ min: 1, max: MAX });
const sections = fc.constantFrom(
  { text: 'HEADER', section: { part: [], text: 'HEADER', fields: [] } },
  { text: '1.2.MIME', section: { part: [1, 2], text: 'MIME', fields: [] } },
  { text: '3', section: { part: [3], text: undefined, fields: [] } },
  { text: 'HEADER.FIELDS (To "X-A")', section: { part: [], text: 'HEADER.FIELDS', fields: ['To', 'X-A'] } },
);
/** Percent-encodes octets that a URL cannot hold, or also others. */
const encode = (text: string, isEager: boolean) =>
  isEager
    ? [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('')
    : encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('.', '%2E');

const named = fc.record({
  mailbox: mailboxes,
  uidValidity: fc.option(number, { nil: undefined }),
  uid: number,
  section: fc.option(sections, { nil: undefined }),
  offset: fc.option(fc.integer({ min: 0, max: MAX }), { nil: undefined }),
  count: fc.option(number, { nil: undefined }),
  isEager: fc.boolean(),
});

test('a URL is read as it was written, whatever the mailbox is called', () => {
  fc.assert(
    fc.property(named, fc.option(mailboxes, { nil: undefined }), (one, selected) => {
      const { mailbox, uidValidity, uid, section, offset, count, isEager } = one;
      const partial =
        offset === undefined ? '' : `/;PARTIAL=${offset}${count === undefined ? '' : `.${count}`}`;
      const url = [
        encode(mailbox, isEager),
        uidValidity === undefined ? '' : `;UIDVALIDITY=${uidValidity}`,
        `/;UID=${uid}`,
        section ? `/;SECTION=${encode(section.text, isEager)}` : '',
        partial,
      ].join('');
      const expected: MessageUrl = {
        mailbox,
        uidValidity,
        uid,
        section: (section?.section ?? { part: [], text: undefined, fields: [] }) as MessageUrl['section'],
        partial: offset === undefined ? undefined : { offset, count: count ?? MAX },
      };
      assert.deepEqual(parseMessageUrl(`/${url}`, selected), expected);
      assert.deepEqual(parseMessageUrl(url, undefined), expected);
      if (selected === undefined) return;
      const inside = { ...expected, mailbox: `${selected}/${mailbox}` };
      assert.deepEqual(parseMessageUrl(url, selected), inside);
      const rest = url.slice(encode(mailbox, isEager).length).replace(/^\/(?=;UID)/, '');
      assert.deepEqual(parseMessageUrl(rest, selected), { ...expected, mailbox: selected });
    }),
    { numRuns: 100, seed: 1 },
  );
});

test('numbers have 32 bits, a server is no mailbox, and dots in the name of the selected mailbox are letters', () => {
  const uid = (url: string, selected?: string) => parseMessageUrl(url, selected)?.uid;
  assert.equal(uid('/a;UIDVALIDITY=4294967295/;UID=4294967295'), 4294967295);
  for (const url of [
    '/a/;UID=4294967296',
    '/a;UIDVALIDITY=4294967296/;UID=1',
    '/a/;UID=1/;PARTIAL=4294967296',
  ])
    assert.equal(uid(url), undefined, url);
  assert.equal(uid('//a/b/;UID=1'), undefined);
  assert.equal(parseMessageUrl(';UID=1', 'a/..')?.mailbox, 'a/..');
});

test('whatever a client sends, it names a message or nothing, and the refusal is a response code', () => {
  const piece = fc.constantFrom(
    '/',
    '..',
    ';UID=',
    ';UIDVALIDITY=',
    ';SECTION=',
    ';PARTIAL=',
    '1',
    'INBOX',
    '%00',
    '%FF',
    ']',
    '"',
    '\r\n',
    'ä',
    '(',
    '//',
  );

  const urls = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(urls, fc.constantFrom(undefined, 'INBOX', 'a/..', '.'), (url, selected) => {
      const found = parseMessageUrl(url, selected);
      if (found) {
        assert.ok(found.mailbox !== '' && !/\p{Cc}/u.test(found.mailbox));
        for (const count of [found.uid, found.uidValidity ?? 1]) assert.ok(count >= 1 && count <= MAX);
      }
      assert.match(badUrl(url).code ?? '', /^BADURL [!#-[^-~]*$/);
    }),
    { numRuns: 500, seed: 1 },
  );
});

test('long URLs are read in linear time', () => {
  for (const repeated of ['a', '%41', '/', '/..', ';UID=1', '/;UID=1', '/;SECTION=', '/;UID=1/;SECTION=1'])
    for (const end of ['', ';', '%', '/;PARTIAL=0.x']) {
      const began = process.threadCpuUsage().user;
      parseMessageUrl(`/${repeated.repeat(200_000 / repeated.length)}${end}`, 'INBOX');
      assert.ok(process.threadCpuUsage().user - began < 500_000, `${repeated}…${end}`);
    }
});
