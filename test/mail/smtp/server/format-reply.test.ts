import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBareReply, formatReply } from '../../../../src/mail/smtp/server/format-reply.ts';

test('a reply has its code and its status on each line', () => {
  assert.equal(formatReply({ code: 250, text: 'OK' }), '250 2.0.0 OK\r\n');
  assert.equal(
    formatReply({ code: 550, status: '5.1.1', text: ['No such user', 'Ask the postmaster'] }),
    '550-5.1.1 No such user\r\n550 5.1.1 Ask the postmaster\r\n',
  );
  assert.equal(formatBareReply(250, ['mx.test', 'PIPELINING']), '250-mx.test\r\n250 PIPELINING\r\n');
});

test('no text breaks the line, makes it too long or adds a reply', () => {
  const text = `naïve\r\n250 OK\u0000${'x'.repeat(1_000)}`;
  const reply = formatReply({ code: 550, status: '5.6.0', text });
  assert.match(reply, /^550 5\.6\.0 na\?ve\?250 OK\?x+\r\n$/);
  assert.equal(Buffer.byteLength(reply), 512);
  assert.equal(formatReply({ code: 550, text: Array(1_000).fill('x') }).split('\r\n').length - 1, 50);
});
