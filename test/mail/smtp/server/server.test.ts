import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STARTTLS, startServer } from './fixture.ts';

const ENVELOPE = 'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@test.example>\r\n';

test('a message arrives, and the replies to a group of commands leave in one write', async (t) => {
  const { dial, sessions } = await startServer(t);
  const client = dial();
  assert.equal(await client.reply(), '220 mx.test ESMTP\r\n');
  assert.equal(
    await client.ask('EHLO client.example\r\n'),
    [
      '250-mx.test',
      '250-SIZE 41943040',
      '250-PIPELINING',
      '250-8BITMIME',
      '250-SMTPUTF8',
      '250-CHUNKING',
      '250-ENHANCEDSTATUSCODES',
      '250 LIMITS RCPTMAX=100',
      '',
    ].join('\r\n'),
  );
  client.packets.length = 0;
  assert.equal(await client.ask(`${ENVELOPE}DATA\r\n`), '250 2.1.0 OK\r\n');
  assert.equal(await client.reply(), '250 2.1.5 OK\r\n');
  assert.match(await client.reply(), /^354 /);
  assert.equal(client.packets.length, 1);
  assert.equal(await client.ask('Subject: x\r\n\r\n..dot\r\n.\r\n'), '250 2.0.0 Kept\r\n');
  assert.equal(await client.ask('QUIT\r\n'), '221 2.0.0 Bye\r\n');
  assert.equal(await client.reply(), 'closed');
  const [message] = sessions.messages;
  assert.equal(message?.content.toString(), 'Subject: x\r\n\r\n.dot\r\n');
  assert.deepEqual(message?.recipients, [{ address: 'b@test.example' }]);
  assert.equal(message?.client.protocol, 'ESMTP');
  assert.equal(message?.client.helo, 'client.example');
});

test('STARTTLS encrypts, and forgets what was said before', async (t) => {
  const { dial, sessions } = await startServer(t, { tls: STARTTLS });
  const plain = dial();
  await plain.reply();
  assert.match(await plain.ask('EHLO client.example\r\n'), /250 STARTTLS/);
  assert.match(await plain.ask('MAIL FROM:<a@sender.example>\r\n'), /^250/);
  assert.match(await plain.ask('STARTTLS\r\n'), /^220 2\.0\.0/);
  const client = await plain.encrypt();
  assert.match(await client.ask('RCPT TO:<b@test.example>\r\n'), /^503/);
  assert.match(await client.ask('MAIL FROM:<a@sender.example>\r\n'), /^503/);
  const offers = await client.ask('EHLO client.example\r\n');
  assert.match(offers, /REQUIRETLS/);
  assert.doesNotMatch(offers, /STARTTLS/);
  assert.match(await client.ask('STARTTLS\r\n'), /^503/);
  client.send('MAIL FROM:<a@sender.example> REQUIRETLS\r\nRCPT TO:<b@test.example>\r\nBDAT 3 LAST\r\nabc');
  assert.match(await client.reply(), /^250/);
  assert.match(await client.reply(), /^250/);
  assert.match(await client.reply(), /^250/);
  const [message] = sessions.messages;
  assert.equal(message?.sender.requireTls, true);
  assert.equal(message?.client.protocol, 'ESMTPS');
  assert.equal(message?.client.tls?.version, 'TLSv1.3');
  assert.equal(message?.client.tls?.serverName, 'mx.test');
  client.socket.destroy();
});
