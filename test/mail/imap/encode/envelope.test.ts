import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeEnvelope } from '../../../../src/mail/imap/encode/envelope.ts';
import type { TextForm } from '../../../../src/mail/imap/encode/strings.ts';
import { readFields } from '../../../../src/mail/message/header-block.ts';

function envelope(header: string, form: TextForm = '7bit'): string {
  const octets = Buffer.from(header.replace(/\n/g, '\r\n'));
  return writeEnvelope(readFields(octets, { start: 0, end: octets.length }), form);
}

test('the envelope has ten fields in their order', () => {
  assert.equal(
    envelope(
      'Date: Tue, 25 Nov 2025 10:00:00 +0100\nSubject: a "b"\n c\nFrom: A <a@x>\nSender: s@x\nReply-To: r@x\nTo: t@x, u@y\nCc: c@x\nBcc: b@x\nIn-Reply-To: <i@x>\nMessage-ID: <m@x>\n',
    ),
    '("Tue, 25 Nov 2025 10:00:00 +0100" "a \\"b\\" c" (("A" NIL "a" "x")) ((NIL NIL "s" "x")) ((NIL NIL "r" "x")) ((NIL NIL "t" "x")(NIL NIL "u" "y")) ((NIL NIL "c" "x")) ((NIL NIL "b" "x")) "<i@x>" "<m@x>")',
  );
});

test('missing fields are NIL, and empty texts are empty (RFC 9051 section 7.5.2)', () => {
  assert.equal(envelope(''), '(NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)');
  assert.equal(
    envelope('Date:\nSubject:\nFrom:\nTo: \nIn-Reply-To:\nMessage-ID:\n'),
    '("" "" NIL NIL NIL NIL NIL NIL "" "")',
  );
});

test('Sender and Reply-To are From when they are missing or empty', () => {
  const from = '(("A" NIL "a" "x"))';
  assert.equal(envelope('From: A <a@x>\n'), `(NIL NIL ${from} ${from} ${from} NIL NIL NIL NIL NIL)`);
  assert.equal(
    envelope('From: A <a@x>\nSender:\nReply-To: ,\n'),
    `(NIL NIL ${from} ${from} ${from} NIL NIL NIL NIL NIL)`,
  );
});

test('27: without From, Sender and Reply-To that are there stay, and are no NIL lists', () => {
  assert.equal(
    envelope('Sender: s@x\nReply-To: r@x\n'),
    '(NIL NIL NIL ((NIL NIL "s" "x")) ((NIL NIL "r" "x")) NIL NIL NIL NIL NIL)',
  );
});

test('groups and source routes are in the envelope', () => {
  assert.equal(
    envelope('To: "A Group": <@r,@s:a@x>;\nCc: none:;\n'),
    '(NIL NIL NIL NIL NIL ((NIL NIL "A Group" NIL)(NIL "@r,@s" "a" "x")(NIL NIL NIL NIL)) ((NIL NIL "none" NIL)(NIL NIL NIL NIL)) NIL NIL NIL)',
  );
});

test('addresses of repeated fields are joined, and the first of other fields counts', () => {
  assert.equal(
    envelope('To: a@x\nSubject: one\nTo: b@x\nSubject: two\n'),
    '(NIL "one" NIL NIL NIL ((NIL NIL "a" "x")(NIL NIL "b" "x")) NIL NIL NIL NIL)',
  );
});

test('27: the envelope has 7 bits unless the client reads UTF-8', () => {
  const header = 'Subject: =?utf-8?Q?Gr=C3=BC?= ße\nFrom: Jörg <jörg@bücher.example>\n';
  const utf8 = '(("Jörg" NIL "jörg" "bücher.example"))';
  assert.equal(
    envelope(header, 'utf8'),
    `(NIL "=?utf-8?Q?Gr=C3=BC?= ße" ${utf8} ${utf8} ${utf8} NIL NIL NIL NIL NIL)`,
  );
  const name = '=?UTF-8?B?SsO2cmcgKGrDtnJnQGLDvGNoZXIuZXhhbXBsZSk=?=';
  const ascii = `(("${name}" NIL "invalid" "internationalized-address.invalid"))`;
  assert.equal(
    envelope(header),
    `(NIL "=?UTF-8?B?R3LDvCDDn2U=?=" ${ascii} ${ascii} ${ascii} NIL NIL NIL NIL NIL)`,
  );
});

test('an address keeps its domain in ASCII, and the name of a group its text', () => {
  assert.match(
    envelope('From: ann@bücher.example\n'),
    /^\(NIL NIL \(\(NIL NIL "ann" "xn--bcher-kva\.example"\)\)/,
  );
  assert.match(
    envelope('To: Größe: ann@a.example;\n'),
    /\(\(NIL NIL "=\?UTF-8\?\S+" NIL\)\(NIL NIL "ann" "a\.example"\)/,
  );
});

test('encoded-words stay as they are', () => {
  assert.match(envelope('Subject: =?koi8-r?B?xA==?=\n'), /^\(NIL "=\?koi8-r\?B\?xA==\?=" /);
});
