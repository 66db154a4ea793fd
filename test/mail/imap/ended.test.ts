/** Connections of accounts that can no longer be used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refusal } from '../../../src/mail/imap/session.ts';
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { startServer } from './fixture.ts';

test('a connection ends at once when its account can no longer be used, whatever it does', async (t) => {
  const ended = Promise.withResolvers<Refusal>();
  const mail = createMemoryMail({ account: { ended: ended.promise } });
  const server = await startServer(t, { mail });
  const waiting = await server.open();
  const idle = await server.open('SELECT INBOX');
  await idle.ask('IDLE');
  const appending = await server.open();
  await appending.ask('APPEND INBOX {5}');
  ended.resolve({ refused: 'BYE', code: 'UNAVAILABLE', text: 'The mailbox is closed' });
  for (const client of [waiting, idle, appending])
    assert.deepEqual(await client.rest(), ['* BYE [UNAVAILABLE] The mailbox is closed']);
});
