import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENVELOPE, expect, greet, startServer } from './fixture.ts';

/** Sequences that some server has taken for the end of a message (CVE-2023-51764, -51765, -51766, -27305 and others). */
const SEQUENCES = [
  '\n.\n',
  '\n.\r',
  '\n.\r\n',
  '\r.\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\n',
  '\r\n.\r',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\n\n.\r\n',
  '\r\n.\r\r\n',
  '\r\r\n.\r\r\n',
];
const TRANSACTION = `${ENVELOPE}DATA\r\n`;

test('no sequence but CRLF, dot, CRLF ends a message', async (t) => {
  const { dial, sessions } = await startServer(t);
  await Promise.all(
    SEQUENCES.map(async (sequence) => {
      const client = await greet(dial());
      client.send(TRANSACTION);
      await expect(client, '250', '250', '354');
      const hidden = `${sequence}${TRANSACTION}`;
      const text = `Subject: x\r\n\r\nouter${hidden}Subject: y\r\n\r\ninner\r\n.\r\n`;
      client.send(Buffer.from(text, 'latin1'));
      const reply = await client.reply();
      const isRefused = /\0|\r(?!\n)/.test(text);
      assert.match(reply, isRefused ? /^550 5\.6\.0 / : /^250 /, JSON.stringify(sequence));
      client.send('QUIT\r\n');
      assert.deepEqual(await client.rest(), ['221', 'closed']);
    }),
  );
  // A bare LF stays where it is; only the dot that begins a line is removed.
  const expected = SEQUENCES.filter((sequence) => !/\0|\r(?!\n)/.test(sequence)).map((sequence) =>
    `Subject: x\r\n\r\nouter${sequence}${TRANSACTION}Subject: y\r\n\r\ninner\r\n`.replaceAll('\r\n.', '\r\n'),
  );
  assert.deepEqual(sessions.messages.map(({ content }) => content.toString()).sort(), expected.sort());
  assert.equal(expected.length, 4);
});
