import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMailbox } from '../../src/mail/address.ts';
import { composeReply, reasonNotToReply } from '../../src/mail/auto-reply.ts';
import { readFields } from '../../src/mail/message/header-block.ts';

/** Returns the header of the reply to a message with these fields. */
function replyTo(header: string): string {
  const octets = Buffer.from(header);
  const mailbox = (address: string) => parseMailbox(address) ?? assert.fail();
  const reply = composeReply({
    messageId: 'reply@test.example',
    from: mailbox('ann@test.example'),
    to: mailbox('bob@other.example'),
    subject: undefined,
    text: 'Away',
    isMime: false,
    fields: readFields(octets, { start: 0, end: octets.length }),
  });
  return reply.bytes.toString('latin1', 0, reply.headerBytes);
}

test('a reply names the message that it answers, and those before it', () => {
  const header = replyTo(
    'Message-ID: <c@x.example>\r\nReferences: <a@x.example> no id\r\n <b@@x.example>\r\n',
  );
  assert.match(header, /^In-Reply-To: <c@x\.example>\r$/m);
  assert.match(header, /^References: <a@x\.example>\s+<b@@x\.example>\s+<c@x\.example>\r$/m);
});

test('References that look like one long id take linear time', () => {
  const start = process.threadCpuUsage();
  replyTo(`Message-ID: <c@x.example>\r\nReferences: <${'@'.repeat(200_000)}\r\n`);
  const { user, system } = process.threadCpuUsage(start);
  // Reading that is quadratic takes half a minute.
  assert.ok(user + system < 1_000_000);
});

const PERSONAL = 'From: Ann <ann@example.org>\nTo: Me <me@example.com>\nSubject: lunch\n';
const OWN = ['me@example.com', 'alias@example.com'];

function reasonFor(header: string, sender = 'ann@example.org'): string | undefined {
  const octets = Buffer.from(`${header}\n`.replaceAll('\n', '\r\n'));
  return reasonNotToReply({ sender, fields: readFields(octets, { start: 0, end: octets.length }), own: OWN });
}

test('mail of a person to the owner is answered', () => {
  for (const header of [
    PERSONAL,
    'Cc: group: x@y.example, ALIAS@Example.com;\n',
    'Bcc: me@example.com\n',
    'Resent-To: me@example.com\nTo: list@example.org\n',
    `${PERSONAL}Auto-Submitted: no\n`,
    `${PERSONAL}Precedence: first-class\n`,
  ])
    assert.equal(reasonFor(header), undefined, header);
  for (const sender of [
    'postmaster@example.org',
    'SRS0=HHH=TT=example.net=ann@example.org',
    'prvs=1234567890=ann@example.org',
    'noreen@example.org',
    'bounceback@example.org',
  ])
    assert.equal(reasonFor(PERSONAL, sender), undefined, sender);
});

test('mail of programs, lists and nobody is not answered, nor mail to others', () => {
  for (const [reason, header, sender] of [
    ['sender', PERSONAL, ''],
    ['sender', PERSONAL, 'Alias@example.com'],
    ['sender', PERSONAL, 'MAILER-DAEMON@example.org'],
    ['sender', PERSONAL, 'no-reply@example.org'],
    ['sender', PERSONAL, 'noreply+abc@example.org'],
    ['sender', PERSONAL, 'do_not_reply@example.org'],
    ['sender', PERSONAL, 'owner-list@example.org'],
    ['sender', PERSONAL, 'list-request@example.org'],
    ['sender', PERSONAL, 'list-bounces@example.org'],
    ['sender', PERSONAL, 'bounces+abc@example.org'],
    ['list', `${PERSONAL}List-Id: <a.b.example>\n`, undefined],
    ['list', `${PERSONAL}List-Unsubscribe: <mailto:a@b.example>\n`, undefined],
    ['automatic', `${PERSONAL}Auto-Submitted: auto-replied (vacation)\n`, undefined],
    ['automatic', `${PERSONAL}Auto-Submitted: auto-generated\n`, undefined],
    ['automatic', `${PERSONAL}Precedence: bulk\n`, undefined],
    ['automatic', `${PERSONAL}Precedence: LIST\n`, undefined],
    ['automatic', `${PERSONAL}Precedence: junk\n`, undefined],
    ['automatic', `${PERSONAL}X-Auto-Response-Suppress: DR, OOF\n`, undefined],
    ['not addressed', 'To: other@example.com\nX-To: me@example.com\n', undefined],
    ['not addressed', 'Subject: me@example.com\n', undefined],
  ] as const)
    assert.equal(reasonFor(header, sender), reason, `${header} ${sender}`);
});
