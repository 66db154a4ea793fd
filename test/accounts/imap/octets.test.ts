/** The octets of messages reach the client as they are stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openImapAccount } from '../../../src/accounts/imap/imap-account.ts';
import type { FetchItem } from '../../../src/mail/imap/fetch-item.ts';
import { createAccountMail } from '../../support/account-mail.ts';

const HEADER = Buffer.from('Subject: all\r\nX-Other: \xff\r\n\r\n', 'latin1');
const BODY = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
const PREFIX = 'Return-Path: <ann@test.example>\r\n';

const mail = await createAccountMail();
for (const prefix of ['', PREFIX]) await mail.deliver('INBOX', Buffer.concat([HEADER, BODY]), { prefix });
const session = openImapAccount(mail.account, { disabledCapabilities: [], quotaBytes: null });
const selection = await session.select('INBOX', { readOnly: true, condstore: false });

/** Returns the literals of the responses for both messages. */
async function fetch(fields: Partial<FetchItem & { kind: 'SECTION' }>): Promise<Buffer[]> {
  if (!('selected' in selection)) return assert.fail(selection.text);
  const section = { part: [], text: undefined, fields: [] };
  const item = { kind: 'SECTION', label: 'X', peek: true, partial: undefined, section, ...fields } as const;
  const query = { set: [[1, 2]], uid: false, changedSince: undefined, vanished: false } as const;
  const pieces: Buffer[] = [];
  for await (const piece of selection.selected.fetch({ ...query, items: [item], partial: undefined }))
    pieces.push(piece);
  const wire = Buffer.concat(pieces).toString('latin1');
  const literals: Buffer[] = [];
  for (let at = 0; at < wire.length; ) {
    const [begin = '', number, size] =
      /^\* (\d) FETCH \(X(?:<\d+>)? \{(\d+)\}\r\n/.exec(wire.slice(at)) ?? assert.fail(wire);
    assert.equal(Number(number), literals.length + 1);
    const end = at + begin.length + Number(size);
    literals.push(Buffer.from(wire.slice(at + begin.length, end), 'latin1'));
    assert.equal(wire.slice(end, end + 3), ')\r\n');
    at = end + 3;
  }
  return literals;
}

const part = { part: [], fields: [] };

test('a message is what was stored, with the prefix of its recipient', async () => {
  const content = Buffer.concat([HEADER, BODY]);
  const whole = [content, Buffer.concat([Buffer.from(PREFIX), content])];
  assert.deepEqual(await fetch({}), whole);
  const text = { ...part, text: 'TEXT' } as const;
  assert.deepEqual(await fetch({ section: text }), [BODY, BODY]);
  assert.deepEqual(await fetch({ section: { ...part, part: [1], text: undefined } }), [BODY, BODY]);
  for (const [offset, count] of [
    [0, 5],
    [10, 40],
    [PREFIX.length, 7],
    [PREFIX.length + 3, 200],
    [200, 9_999],
  ] as const)
    assert.deepEqual(
      await fetch({ partial: { offset, count } }),
      whole.map((one) => one.subarray(offset, offset + count)),
    );
  assert.deepEqual(await fetch({ section: text, partial: { offset: 250, count: 9 } }), [
    BODY.subarray(250),
    BODY.subarray(250),
  ]);
});

test('the header has the prefix, and chosen fields too', async () => {
  const header = { ...part, text: 'HEADER' } as const;
  assert.deepEqual(await fetch({ section: header }), [HEADER, Buffer.concat([Buffer.from(PREFIX), HEADER])]);
  const fields = { ...part, text: 'HEADER.FIELDS', fields: ['SUBJECT', 'RETURN-PATH'] } as const;
  assert.deepEqual((await fetch({ section: fields })).map(String), [
    'Subject: all\r\n\r\n',
    `${PREFIX}Subject: all\r\n\r\n`,
  ]);
});
