import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIN_PASSED_BYTES } from '../../../../src/mail/connection/pieces.ts';
import { ENVELOPE, greet, STARTTLS, startServer, type TestClient } from './fixture.ts';

/** Sends all at once and returns the codes up to the end of the session. */
async function codesOf(client: TestClient, text: string): Promise<string> {
  client.send(text);
  return (await client.rest()).join(' ');
}

test('chunks make one message, whatever they contain and however they arrive', async (t) => {
  const { dial, sessions } = await startServer(t);
  const text = `${ENVELOPE}BDAT 6\r\nab\r\n.\rBDAT 3\r\n\n\r\nBDAT 0\r\nBDAT 4 last\r\nQUITQUIT\r\n`;
  const codes = '250 250 250 250 250 250 221 closed';
  assert.equal(await codesOf(await greet(dial()), text), codes);
  const client = await greet(dial());
  for (const byte of Buffer.from(text)) client.send(Buffer.from([byte]));
  assert.equal((await client.rest()).join(' '), codes);
  for (const { content } of sessions.messages) assert.equal(content.toString(), 'ab\r\n.\r\n\r\nQUIT');
  assert.equal(sessions.messages.length, 2);
});

test('a session gets the octets of a message together, also when each comes by itself', async (t) => {
  const sizes: number[] = [];
  const { dial } = await startServer(t, {
    hooks: {
      async data(body) {
        for await (const { length } of body) sizes.push(length);
        return { code: 250, text: 'OK' };
      },
    },
  });
  const chunks = 'BDAT 1\r\nx'.repeat(MIN_PASSED_BYTES + 1);
  const client = await greet(dial());
  client.send(`${ENVELOPE}${chunks}BDAT 1 LAST\r\nxQUIT\r\n`);
  await client.rest();
  assert.deepEqual(sizes, [MIN_PASSED_BYTES, 2]);
});

for (const { what, text, codes, messages = 0 } of [
  {
    what: 'a chunk before MAIL',
    text: 'BDAT 6 LAST\r\nQUIT\r\nNOOP\r\nQUIT\r\n',
    codes: '503 250 221 closed',
  },
  {
    what: 'a chunk without recipients',
    text: 'MAIL FROM:<>\r\nBDAT 6 LAST\r\nQUIT\r\nNOOP\r\nQUIT\r\n',
    codes: '250 554 250 221 closed',
  },
  {
    what: 'a chunk after the last one',
    text: `${ENVELOPE}BDAT 1 LAST\r\nxBDAT 6\r\nQUIT\r\nQUIT\r\n`,
    codes: '250 250 250 503 221 closed',
    messages: 1,
  },
  {
    what: 'DATA between chunks',
    text: `${ENVELOPE}BDAT 1\r\nxDATA\r\n`,
    codes: '250 250 250 503',
  },
  {
    what: 'MAIL and RCPT between chunks',
    text: `${ENVELOPE}BDAT 1\r\nx${ENVELOPE}NOOP\r\nBDAT 1 LAST\r\ny`,
    codes: '250 250 250 503 503 250 250',
    messages: 1,
  },
  {
    what: 'RSET between chunks',
    text: `${ENVELOPE}BDAT 1\r\nxRSET\r\nBDAT 1 LAST\r\nyQUIT\r\n`,
    codes: '250 250 250 250 503 221 closed',
  },
  {
    what: 'EHLO between chunks',
    text: `${ENVELOPE}BDAT 1\r\nxHELO again.example\r\n`,
    codes: '250 250 250 250',
  },
  {
    what: 'QUIT between chunks',
    text: `${ENVELOPE}BDAT 1\r\nxQUIT\r\n`,
    codes: '250 250 250 221 closed',
  },
  {
    what: 'a malformed chunk, whose chunks in the pipeline are dropped',
    text: `${ENVELOPE}BDAT 2\r\na\rBDAT 7\r\nQUIT\r\n\0BDAT 6 LAST\r\nQUIT\r\nNOOP\r\nQUIT\r\n`,
    codes: '250 250 250 550 503 250 221 closed',
  },
  {
    what: 'a message that ends with a CR',
    text: `${ENVELOPE}BDAT 2 LAST\r\na\rQUIT\r\n`,
    codes: '250 250 550 221 closed',
  },
  { what: 'a chunk without a size', text: `${ENVELOPE}BDAT\r\nQUIT\r\n`, codes: '250 250 501 closed' },
  { what: 'a chunk of odd size', text: `${ENVELOPE}BDAT -1\r\nQUIT\r\n`, codes: '250 250 501 closed' },
  { what: 'a chunk with a word', text: `${ENVELOPE}BDAT 1 FIRST\r\nx`, codes: '250 250 501 closed' },
  {
    what: 'a chunk larger than any message',
    text: `${ENVELOPE}BDAT 41943041\r\nQUIT\r\n`,
    codes: '250 250 552 closed',
  },
  {
    what: 'a message of ever more chunks',
    text: `${ENVELOPE}${'BDAT 0\r\n'.repeat(10_001)}QUIT\r\n`,
    codes: `250 250 ${'250 '.repeat(9_999)}421 closed`,
  },
]) {
  test(`${what} is answered, and nothing of it is read as a command`, async (t) => {
    const { dial, sessions } = await startServer(t);
    const client = await greet(dial());
    client.send(text);
    for (const [index, code] of codes.split(' ').entries())
      assert.equal((await client.reply()).slice(0, code.length), code, `reply ${index}`);
    client.socket.destroy();
    assert.equal(sessions.messages.length, messages);
  });
}

test('a session that refuses a chunk refuses the message', async (t) => {
  const { dial, sessions } = await startServer(t, {
    hooks: { data: async () => ({ code: 452, status: '4.3.1', text: 'The disk is full' }) },
  });
  const text = `${ENVELOPE}BDAT 6\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\nQUIT\r\n`;
  assert.equal(await codesOf(await greet(dial()), text), '250 250 452 503 221 closed');
  assert.equal(sessions.calls.data, 1);
});

test('a client that ends TLS inside a chunk is gone, and what it sends in plaintext is not read (CVE-2026-45185)', async (t) => {
  const { greeted, sessions } = await startServer(t, { tls: STARTTLS });
  const plain = await greeted();
  await plain.ask('EHLO client.example\r\n');
  await plain.ask('STARTTLS\r\n');
  const client = await plain.encrypt();
  await client.ask('EHLO client.example\r\n');
  client.send(`${ENVELOPE}BDAT 100\r\nabc`);
  assert.match(await client.reply(), /^250/);
  assert.match(await client.reply(), /^250/);
  // This sends close_notify. The TCP connection stays open.
  client.socket.end();
  await new Promise((resolve) => client.socket.once('finish', resolve));
  plain.socket.write(`${'x'.repeat(97)}${ENVELOPE}BDAT 1 LAST\r\nx`);
  while (sessions.openSessions() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const names = sessions.errors.map(({ name }) => name);
  assert.deepEqual(names, ['ClientGone']);
  assert.equal(sessions.messages.length, 0);
  assert.equal(sessions.calls.mail, 1);
  plain.socket.destroy();
});
