/**
 * Compares messages that are put together from generated URLs with those that Dovecot makes of them. URLs that Dovecot takes although
 * RFC 5092 section 11 has no such form are left out: those with a slash at the end, or with a UID that begins with 0. Sections that a
 * message does not have are left out too: they are empty for Dovecot, and a bad URL for RFC 4469 section 4.1. After a URL that was
 * refused, Dovecot would take a text for a command, so each message has one part.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startServer } from '../mail/imap/fixture.ts';
import { createAccountMail } from '../support/account-mail.ts';
import { unpackDovecot } from './dovecot.ts';

const URLS = 400;

const SOURCE = [
  'Subject: parts',
  'From: a@test.example',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'first',
  '--b',
  'Content-Type: message/rfc822',
  '',
  'Subject: inner',
  'From: b@test.example',
  '',
  'second',
  '--b--',
  '',
].join('\r\n');

const mailboxes = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '/INBOX',
      '/inbox',
      '/Box',
      'Box',
      '/%C3%A4%3Bx',
      '/a/../%49NBOX',
      '/./INBOX',
      '',
    ),
  },
  fc.constantFrom(
    ...['/nowhere', '/', '//localhost/INBOX', 'imap://localhost/INBOX', '/INBOX%00', '/IN BOX', '/INBOX;X=1'],
    '/INBOX;UIDVALIDITY=1',
  ),
);
const uids = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/;UID=1', '/;uid=1') },
  fc.constantFrom('/;UID=9', '/;UID=0', ';UID=1', '/;UID=4294967296', ''),
);
const sections = fc.constantFrom(
  ...['', '', 'HEADER', 'TEXT', '1', '1.MIME', '2', '2.MIME', '2.HEADER', '2.TEXT', '2.1', 'MIME'],
  ...[
    'header.fields%20(subject)',
    'HEADER.FIELDS.NOT%20(%22From%22)',
    '2.HEADER.FIELDS%20(FROM)',
    'WHOLE',
    '1.x',
  ],
);
const partials = fc.constantFrom(...['', '', '', '0.5', '7.100000', '0.0', '99999', 'x', '5.']);
const urls = fc
  .tuple(
    mailboxes,
    uids,
    sections,
    partials,
    fc.constantFrom('', '', '', '', '', '?x', '#x', ';EXPIRE=2030-01-01T00:00:00Z'),
  )
  .map(([mailbox, uid, section, partial, end]) =>
    [mailbox, uid, section && `/;SECTION=${section}`, partial && `/;PARTIAL=${partial}`, end].join(''),
  );

test('messages that are put together by URLs are those of Dovecot', async (t) => {
  const sent = fc.sample(urls, { numRuns: URLS, seed: 1 });
  const literal = `{${SOURCE.length}+}\r\n${SOURCE}`;
  const commands = [
    ...['CREATE Box', 'CREATE "&AOQ-;x"', 'CREATE Out'],
    ...['INBOX', 'Box', '"&AOQ-;x"'].map((mailbox) => `APPEND ${mailbox} ${literal}`),
    ...sent.map((url) => `APPEND Out CATENATE (URL "${url}")`),
    'SELECT Box',
    ...sent.map((url) => `APPEND Out CATENATE (URL "${url}")`),
    'EXAMINE Out',
    'FETCH 1:* BODY.PEEK[]',
  ];
  const dovecot = await unpackDovecot();
  const theirs = await dovecot.converse(
    commands.map((command, index) => `t${index} ${command}\r\n`).join(''),
  );
  const client = await (await startServer(t, { mail: await createAccountMail() })).open();
  let fetched: string[] = [];
  for (const [index, command] of commands.entries()) {
    fetched = await client.ask(command);
    const [, status = '', text] = new RegExp(`^t${index} (OK|NO|BAD)(.*)\r\n`, 'm').exec(theirs) ?? [];
    // A range behind the end is empty, and no message has no octets.
    const isEmpty = fetched.at(-1)?.startsWith('NO [CANNOT]');
    assert.equal(
      isEmpty ? 'OK' : fetched.at(-1)?.split(' ')[0],
      status,
      `${command}: ${fetched.at(-1)}, theirs:${text}`,
    );
  }
  const contents = (responses: string) =>
    [...responses.matchAll(/FETCH \(BODY\[\] \{(\d+)\}\r\n/g)].map((match) => {
      const from = match.index + match[0].length;
      return responses.slice(from, from + Number(match[1]));
    });
  const ours = contents(fetched.join('\r\n'));
  assert.ok(ours.length > 50, `${ours.length} messages, of ${fetched.length} lines: ${fetched.slice(0, 3)}`);
  assert.deepEqual(
    ours,
    contents(theirs).filter((content) => content !== ''),
  );
});
