/** Messages with a header that a script has edited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEdited } from '../../../../src/inbound/mailboxes/scripts/edited-message.ts';

const HEADER = Buffer.from('Subject: old\r\n\r\n');
const EDITED = Buffer.from('Subject: new\r\n\r\n');

/** Returns a delivery of the message in two chunks, of a declared size. */
function deliveryOf(sizeBytes: number) {
  const chunks = async function* () {
    yield Buffer.from('Subject: o');
    yield Buffer.from('ld\r\n\r\nHello');
  };
  return { header: HEADER, content: { sizeBytes, chunks }, mailbox: { tenantId: 'ten_1' as const } };
}

/** Returns how many of eight messages of a size are held at the same time. */
async function countHeld(sizeBytes: number): Promise<number> {
  let held = 0;
  let most = 0;
  const hold = () =>
    withEdited(deliveryOf(sizeBytes), EDITED, async (message) => {
      most = Math.max(most, ++held);
      assert.equal(message.toString(), 'Subject: new\r\n\r\nHello');
      await new Promise(setImmediate);
      held--;
    });
  await Promise.all(Array.from({ length: 8 }, hold));
  return most;
}

test('an edited header replaces that of the message, and few large messages are held at a time', async () => {
  assert.equal(await countHeld(100), 8);
  assert.ok((await countHeld(2 ** 21)) <= 2);
});
