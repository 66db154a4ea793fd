import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startServer } from './fixture.ts';

const word = fc.constantFrom(
  'NOOP',
  'CAPABILITY',
  'SELECT',
  'EXAMINE',
  'INBOX',
  'FETCH',
  'UID',
  'STORE',
  'SEARCH',
  'COPY',
  'MOVE',
  'EXPUNGE',
  'LIST',
  'LSUB',
  'STATUS',
  'APPEND',
  'CREATE',
  'DELETE',
  'RENAME',
  'CLOSE',
  'UNSELECT',
  'ENABLE',
  'IMAP4rev2',
  'CONDSTORE',
  'UTF8=ACCEPT',
  'ID',
  'NIL',
  'NAMESPACE',
  'CHECK',
  'RETURN',
  'SAVE',
  'COUNT',
  '()',
  '(MESSAGES)',
  'ALL',
  'NOT',
  'OR',
  '1',
  '1:*',
  '$',
  '*',
  '(FLAGS UID)',
  'BODY[]',
  'BODY.PEEK[HEADER]<0.5>',
  'ENVELOPE',
  'BODYSTRUCTURE',
  '+FLAGS',
  '-FLAGS.SILENT',
  '\\Seen',
  '(\\Deleted $x)',
  '""',
  '"a"',
  '%',
  '{1+}\r\nx',
  '{0+}\r\n',
  '~{2+}\r\nab',
  '&',
  '"\xff"',
  '\0',
  '((',
);
const command = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(' '));
const RESPONSE = /^(?:\* .+|\+ .*|t\d+ (?:OK|NO|BAD) (?:\[[^\]\r\n]+\] )?[ -~]+)$/s;

test('whatever a client sends, each command is completed once, in order, and each response is well formed', async (t) => {
  const { open, mail, lines } = await startServer(t, { limits: { connectionsPerMinute: 100_000 } });
  for (let index = 0; index < 3; index++) await mail.deliver('INBOX', 'Subject: x\r\n\r\nbody\r\n');
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40 }), async (commands) => {
      const client = await open('SELECT INBOX');
      const tagged = commands.map((text, index) => `t${index + 100} ${text}\r\n`);
      client.send(`${tagged.join('')}t999 LOGOUT\r\n`);
      const responses = await client.rest();
      for (const response of responses) assert.match(response, RESPONSE);
      const tags = responses.flatMap((response) => response.match(/^t\d+(?= )/g) ?? []);
      assert.deepEqual(tags, [...commands.map((_, index) => `t${index + 100}`), 't999']);
    }),
    { numRuns: 70 },
  );
  assert.deepEqual(lines, []);
});
