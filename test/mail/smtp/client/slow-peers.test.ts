import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { envelope, meet, settleSockets, summary } from './session-fixture.ts';

/** Sends to a peer that says this again and again after RCPT. Returns the result, and the time in which it came. */
async function sendToDripping(t: TestContext, recipients: string[], drip: { text: string; everyMs: number }) {
  const clock = createFakeClock(0);
  const { peer, session } = await meet(t, { rcpt: '', data: '' }, { clock });
  let isOver = false;
  const sending = session.transact(envelope({ recipients })).result.finally(() => {
    isOver = true;
  });
  await peer.reached('data');
  const begunAt = clock.elapsed();
  for (let sinceMs = 0; !isOver; sinceMs += 1_000) {
    if (sinceMs > 0 && sinceMs % drip.everyMs === 0) peer.say(drip.text);
    await settleSockets();
    if (!isOver) await clock.advance(1_000);
  }
  return { result: summary(await sending), waitedMs: clock.elapsed() - begunAt };
}

test('a peer that drips a reply line by line gains no time', async (t) => {
  const drip = { text: '250-wait\r\n', everyMs: 10_000 };
  const { result, waitedMs } = await sendToDripping(t, ['a@example.net'], drip);
  assert.deepEqual(result, ['failed rcpt timeout']);
  assert.equal(waitedMs, 300_000);
});

test('a peer that answers each RCPT just before its time limit is left after the time for all of them', async (t) => {
  const recipients = Array.from({ length: 5 }, (_, index) => `user${index}@example.net`);
  const drip = { text: '250 ok\r\n', everyMs: 299_000 };
  const { result, waitedMs } = await sendToDripping(t, recipients, drip);
  assert.deepEqual(result, Array(5).fill('failed rcpt timeout'));
  assert.equal(waitedMs, 300_000 + 5 * 20_000);
});
