import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startServer } from '../../mail/imap/fixture.ts';
import { findFaults, grammarCommand } from '../../mail/imap/grammar.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { messageOf } from '../../support/test-account.ts';

const mail = await createAccountMail();

test('commands of the grammar, with and without slips, are completed in order by well-formed responses', async (t) => {
  const { open, lines } = await startServer(t, { mail, limits: { connectionsPerMinute: 100_000 } });
  for (const subject of ['a', 'b', 'c']) await mail.deliver('INBOX', messageOf(subject));
  await fc.assert(
    fc.asyncProperty(fc.array(grammarCommand, { minLength: 1, maxLength: 30 }), async (commands) => {
      assert.deepEqual(await findFaults(await open('SELECT INBOX'), commands), []);
    }),
    { numRuns: 60 },
  );
  assert.deepEqual(lines, []);
});
