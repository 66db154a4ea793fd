import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMemoryMaildrop } from '../../support/memory-pop3-session.ts';
import { startServer } from './fixture.ts';

const word = fc.constantFrom(
  ...[
    'STAT',
    'LIST',
    'UIDL',
    'RETR',
    'TOP',
    'DELE',
    'RSET',
    'NOOP',
    'CAPA',
    'USER',
    'PASS',
    'AUTH',
    'UTF8',
    'STLS',
  ],
  ...['1', '2', '3', '0', '-1', '99999999999999999999', '1e3', ' ', '', 'PLAIN', '=', '*', '.', '..', '\t'],
  ...['\0', '\xff\xfe', '\r', '+OK', '-ERR', '%s', 'é', 'x'.repeat(300), 'APOP', 'XTND', 'LANG *', 'list'],
);
const command = fc
  .array(word, { minLength: 1, maxLength: 4 })
  .map((words) => words.join(' '))
  // A client that quits gets no further answers.
  .filter((text) => !/^(?:CAPA|LIST|UIDL|list)\s*$/.test(text));

/** Reads one response. Returns its first line. */
const STATUS = /^(?:\+OK|-ERR)(?: [ -~]+)?$/;

test('whatever a client sends, each command is answered once, in order, and each response is well formed', async (t) => {
  const drop = createMemoryMaildrop(['a: b\r\n\r\n.\r\n', 'c: d\r\n\r\n+OK\r\n-ERR\r\n']);
  const { open, lines } = await startServer(t, { drop, limits: { connectionsPerMinute: 100_000 } });
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), async (commands) => {
      const client = await open();
      client.send(`${commands.join('\r\n')}\r\nRSET\r\nQUIT\r\n`);
      for (const sent of commands) {
        const status = await client.line();
        assert.match(status, STATUS, sent);
        const isLong = status.startsWith('+OK') && /^(?:RETR|TOP) /.test(sent);
        if (!isLong) continue;
        for (let line = await client.line(); line !== '.'; line = await client.line())
          assert.ok(line !== 'closed' && !/^\.(?!\.)/.test(line), line);
      }
      assert.deepEqual(await client.rest(), ['+OK', '+OK Good bye']);
      assert.equal(drop.messages.length, 2);
    }),
    { numRuns: 70 },
  );
  assert.deepEqual(lines, []);
});
