import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMailbox } from '../../../src/mail/address.ts';
import { composeReply } from '../../../src/mail/auto-reply/compose.ts';
import { readFields } from '../../../src/mail/message/header-block.ts';

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
