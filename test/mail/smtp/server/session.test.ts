import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../../../src/mail/smtp/server/session.ts';
import { AppError } from '../../../../src/system/errors.ts';
import { readBody } from '../../../support/memory-smtp-session.ts';
import { ENVELOPE, expect, greet, STARTTLS, startServer } from './fixture.ts';

const ACCEPTED: Reply = { code: 250, text: 'Kept' };

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

test('each hook may refuse, with its own reply, with a refusal of the product, or by a bug', async (t) => {
  let answer: () => Promise<Reply | undefined> = async () => undefined;
  const hook = () => answer();
  const { dial, lines, metrics } = await startServer(t, { hooks: { ehlo: hook, mail: hook, rcpt: hook } });
  const client = await greet(dial());
  for (const [refuse, reply] of [
    [
      async () => ({ code: 550, status: '5.7.1', text: ['No', 'Never'] }),
      '550-5.7.1 No\r\n550 5.7.1 Never\r\n',
    ],
    [
      async () => {
        throw new AppError('quota_exceeded', 'The quota is used up');
      },
      '452 4.7.0 The quota is used up\r\n',
    ],
    [
      () => {
        throw new TypeError('a bug');
      },
      '451 4.3.0 The server failed to process the request; try again later\r\n',
    ],
  ] as const) {
    for (const command of [
      'EHLO again.example',
      'MAIL FROM:<a@sender.example>',
      'RCPT TO:<b@test.example>',
    ]) {
      answer = refuse;
      assert.equal(await client.ask(`${command}\r\n`), reply, command);
      answer = async () => undefined;
      if (!command.startsWith('EHLO')) assert.match(await client.ask(`${command}\r\n`), /^250/);
    }
    await client.ask('RSET\r\n');
  }
  assert.equal(lines.filter(({ msg }) => msg === 'SMTP session failed').length, 3);
  const text = await metrics();
  for (const reason of ['ehlo', 'mail', 'rcpt'])
    assert.match(text, new RegExp(`smtp_refusals_total\\{listener="smtp",reason="${reason}"\\} 3`));
});

test('a client that is refused gets the refusal as its banner', async (t) => {
  const { dial, sessions } = await startServer(t, {
    hooks: { connect: async () => ({ code: 554, text: 'No mail from you' }) },
  });
  const client = dial();
  assert.equal(await client.reply(), '554 No mail from you\r\n');
  assert.equal(await client.reply(), 'closed');
  assert.equal(sessions.openSessions(), 0);
});

test('a reply with 421 ends the connection', async (t) => {
  const { dial } = await startServer(t, { hooks: { mail: async () => ({ code: 421, text: 'Later' }) } });
  const client = await greet(dial());
  client.send(`${ENVELOPE}NOOP\r\n`);
  assert.deepEqual(await client.rest(), ['421', 'closed']);
});

test('a client is asked for a message only when the session reads it', async (t) => {
  let data = async (_body: AsyncIterable<Buffer>): Promise<Reply> => ACCEPTED;
  const { dial, lines, sessions } = await startServer(t, { hooks: { data: (body) => data(body) } });
  const client = await greet(dial());

  data = async () => ({ code: 452, status: '4.3.1', text: 'The disk is full' });
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '452 4.3.1 The disk is full\r\n');

  data = async () => {
    throw new AppError('unavailable', 'Later');
  };
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '451 4.3.2 Later\r\n');

  // A message that was not read is not accepted.
  data = async () => ACCEPTED;
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '451 4.3.0');
  data = async (body) => {
    for await (const _ of body) break;
    return ACCEPTED;
  };
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '354');
  client.send('x'.repeat(100_000));
  assert.match(await client.ask('\r\n.\r\n'), /^451 4\.3\.0/);
  assert.equal(lines.length, 2);

  // The rest of a message is dropped when the session refuses it half-way.
  data = async (body) => {
    for await (const _ of body) throw new AppError('payload_too_large', 'Too large for this mailbox');
    return ACCEPTED;
  };
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '354');
  client.send(`${'x'.repeat(100_000)}\r\nQUIT\r\n.\r\n`);
  await expect(client, '552 5.3.4 Too large for this mailbox\r\n');

  data = async (body) => ({ code: 250, text: `${(await readBody(body)).length} octets` });
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '354');
  assert.equal(await client.ask('x\r\n.\r\n'), '250 2.0.0 3 octets\r\n');
  assert.equal(sessions.calls.reset, 6);
  assert.equal(lines.length, 2);
});

test('a session that goes on after a malformed message does not accept it', async (t) => {
  const errors: unknown[] = [];
  const { dial } = await startServer(t, {
    hooks: {
      async data(body) {
        await readBody(body).catch((error: unknown) => errors.push(error));
        await readBody(body).catch((error: unknown) => errors.push(error));
        return ACCEPTED;
      },
    },
  });
  const client = await greet(dial());
  for (const text of ['a\rb\r\n.\r\n', 'a\0b\r\n.\r\n']) {
    client.send(`${ENVELOPE}DATA\r\n`);
    await expect(client, '250', '250', '354');
    assert.match(await client.ask(text), /^550 5\.6\.0/);
    client.send(`${ENVELOPE}BDAT ${text.length} LAST\r\n${text}`);
    await expect(client, '250', '250', '550 5.6.0');
  }
  assert.equal(errors.length, 8);
});

test('a client that goes away in the middle leaves nothing behind', async (t) => {
  const { dial, sessions, lines } = await startServer(t);
  for (const text of ['', 'MAIL FR', ENVELOPE, `${ENVELOPE}DATA\r\n`, `${ENVELOPE}BDAT 10\r\nabc`]) {
    const client = await greet(dial());
    client.send(text);
    if (text.includes('\n')) await client.reply();
    client.socket.destroy();
    while (sessions.openSessions() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal(sessions.messages.length, 0);
  const names = sessions.errors.map(({ name }) => name);
  assert.deepEqual(names, ['ClientGone', 'ClientGone']);
  assert.deepEqual(lines, []);
});

test('a client that closes its side after its last command still gets the replies', async (t) => {
  const { dial, sessions } = await startServer(t);
  const client = await greet(dial());
  client.socket.end(`${ENVELOPE}BDAT 3 LAST\r\nabc`);
  assert.deepEqual(await client.rest(), ['250', '250', '250', 'closed']);
  assert.equal(sessions.messages.length, 1);
});

test('a listener that closes ends idle sessions at once and others after their message', async (t) => {
  const { dial, listener, sessions } = await startServer(t);
  const idle = await greet(dial());
  const transacting = await greet(dial());
  transacting.send(ENVELOPE);
  await expect(transacting, '250', '250');
  const sending = await greet(dial());
  sending.send(`${ENVELOPE}DATA\r\n`);
  await expect(sending, '250', '250', '354');
  const closed = listener.close();
  assert.equal(await idle.reply(), '421 4.3.2 mx.test is shutting down\r\n');
  assert.equal(await transacting.reply(), '421 4.3.2 mx.test is shutting down\r\n');
  sending.send('x\r\n.\r\n');
  await expect(sending, '250', '421 4.3.2', 'closed');
  for (const client of [idle, transacting, sending]) client.socket.destroy();
  await closed;
  assert.equal(sessions.messages.length, 1);
  assert.equal(sessions.openSessions(), 0);
});

test('a listener that closes during a handshake ends the session after it', async (t) => {
  const { greeted, listener } = await startServer(t, { tls: STARTTLS });
  const plain = await greeted();
  assert.match(await plain.ask('STARTTLS\r\n'), /^220/);
  const closed = listener.close();
  const client = await plain.encrypt();
  await expect(client, '421 4.3.2', 'closed');
  client.socket.destroy();
  await closed;
});

test('the reply to NOOP does not wait for that to the next command', async (t) => {
  let accept = () => {};
  const { dial } = await startServer(t, {
    hooks: {
      mail: () =>
        new Promise((resolve) => {
          accept = () => resolve(undefined);
        }),
    },
  });
  const client = await greet(dial());
  assert.match(await client.ask('NOOP\r\nMAIL FROM:<>\r\n'), /^250 2\.0\.0/);
  accept();
  assert.match(await client.reply(), /^250 2\.1\.0/);
});

test('LMTP has its own greeting, and answers for each recipient', async (t) => {
  const { dial } = await startServer(t, {
    protocol: 'lmtp',
    hooks: {
      async data(body) {
        const content = await readBody(body);
        return content.length < 5
          ? [ACCEPTED, { code: 452, status: '4.2.2', text: 'The mailbox is full' }]
          : { code: 550, status: '5.7.1', text: 'No' };
      },
    },
  });
  const client = dial();
  assert.equal(await client.reply(), '220 mx.test LMTP\r\n');
  assert.match(await client.ask('EHLO client.example\r\n'), /^500/);
  assert.match(await client.ask('LHLO client.example\r\n'), /^250-mx.test/);
  client.send(`${ENVELOPE}RCPT TO:<c@test.example>\r\nBDAT 3 LAST\r\nabc`);
  await expect(client, '250', '250', '250', '250 2.0.0 Kept', '452 4.2.2');
  client.send(`${ENVELOPE}RCPT TO:<c@test.example>\r\nBDAT 6 LAST\r\nabcdef`);
  await expect(client, '250', '250', '250', '550 5.7.1', '550 5.7.1');
});

test('the protocol of a client is the keyword for the Received field', async (t) => {
  const { greeted, sessions } = await startServer(t);
  const client = await greeted();
  const send = async (greeting: string, parameters: string) => {
    await client.ask(`${greeting} client.example\r\n`);
    client.send(`MAIL FROM:<a@sender.example>${parameters}\r\nRCPT TO:<b@test.example>\r\nBDAT 1 LAST\r\nx`);
    await expect(client, '250', '250', '250');
  };
  await send('HELO', '');
  await send('EHLO', ' SMTPUTF8');
  await send('EHLO', '');
  assert.deepEqual(
    sessions.messages.map(({ client: { protocol } }) => protocol),
    ['SMTP', 'UTF8SMTP', 'ESMTP'],
  );
});

/** The last reply of a connection that its session ends. */
const ENDED: Reply = { code: 421, status: '4.7.0', text: 'The login has ended' };

test('a session ends its connection at once, and cuts off a message that is arriving', async (t) => {
  const { dial, sessions, metrics } = await startServer(t);
  const idle = await greet(dial());
  const sending = await greet(dial());
  sending.send(`${ENVELOPE}DATA\r\n`);
  await expect(sending, '250', '250', '354');
  sending.send('Subject: Hi\r\n');
  for (const connection of sessions.connections) connection.end(ENDED);
  for (const [client, rest] of [
    [idle, 'NOOP\r\n'],
    [sending, '.\r\n'],
  ] as const) {
    assert.equal(await client.ask(rest), '421 4.7.0 The login has ended\r\n');
    assert.equal(await client.reply(), 'closed');
  }
  assert.deepEqual(sessions.messages, []);
  assert.match(await metrics(), /smtp_refusals_total\{listener="smtp",reason="session"\} 2/);
});

test('a message that has arrived is answered before its session ends the connection', async (t) => {
  const { dial, sessions } = await startServer(t, {
    hooks: {
      async data(body) {
        await readBody(body);
        sessions.connections[0]?.end(ENDED);
        return ACCEPTED;
      },
    },
  });
  const client = await greet(dial());
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '354');
  client.send('Subject: Hi\r\n\r\n.\r\nNOOP\r\n');
  assert.deepEqual(await client.rest(), ['250', '421', 'closed']);
});
