/** Commands that take long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEmptyMail } from '../../support/account-mail.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { startServer } from './fixture.ts';

/** Returns a client of a server whose SEARCH and COPY do not end before `finish` is called. */
async function openSlow(t: Parameters<typeof startServer>[0], disabledCapabilities: string[] = []) {
  const clock = createFakeClock(0);
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  t.after(() => end.resolve());
  const wait = async (): Promise<undefined> => {
    began.resolve();
    await end.promise;
  };
  const mail = await createEmptyMail({
    disabledCapabilities,
    selected: {
      async *search() {
        await wait();
        yield Buffer.from('* SEARCH\r\n');
        return undefined;
      },
      copy: wait,
    },
  });
  const client = await (await startServer(t, { mail, clock })).open('SELECT INBOX');
  return { client, clock, began: began.promise, finish: end.resolve };
}

test('INPROGRESS: a client is told every 12 seconds that its command goes on, and not after its end', async (t) => {
  const { client, clock, began, finish } = await openSlow(t);
  client.send('a1 SEARCH ALL\r\n');
  await began;
  await clock.advance(11_999);
  await clock.advance(1);
  const notification = '* OK [INPROGRESS ("a1" NIL NIL)] The command goes on';
  assert.equal(await client.line(), notification);
  await clock.advance(12_000);
  assert.equal(await client.line(), notification);
  finish();
  assert.equal(await client.line(), '* SEARCH');
  assert.equal(await client.line(), 'a1 OK SEARCH completed');
  await clock.advance(30_000);
  client.send('a2 NOOP\r\n');
  assert.equal(await client.line(), 'a2 OK NOOP completed');
});

test('INPROGRESS: a tag that would end the response code is not shown', async (t) => {
  const { client, clock, began, finish } = await openSlow(t);
  client.send('a]1 COPY 1 INBOX\r\n');
  await began;
  await clock.advance(12_000);
  assert.equal(await client.line(), '* OK [INPROGRESS (NIL NIL NIL)] The command goes on');
  finish();
  assert.equal(await client.line(), 'a]1 OK No message was found');
});

test('INPROGRESS: a user without the capability is not told', async (t) => {
  const { client, clock, began, finish } = await openSlow(t, ['INPROGRESS']);
  client.send('a1 SEARCH ALL\r\n');
  await began;
  await clock.advance(60_000);
  finish();
  assert.equal(await client.line(), '* SEARCH');
});
