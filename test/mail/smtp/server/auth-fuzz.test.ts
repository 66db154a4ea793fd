import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../support/random.ts';
import { STARTTLS, startServer } from './fixture.ts';

const random = createRandom(4_954);
const pick = (texts: readonly string[]) => texts[random(texts.length)] ?? '';

/** Octets that are no text, in base64. */
function word(): string {
  return Buffer.from(Array.from({ length: 12 }, () => 128 + random(128))).toString('base64');
}

test('no login that is made at random succeeds, and each has a reply', async (t) => {
  // The session accepts every login that is well-formed.
  const { dial } = await startServer(t, { tls: STARTTLS, submission: { maxHoldSeconds: 1 } });
  for (let session = 0; session < 10; session++) {
    const plain = dial();
    await plain.reply();
    await plain.ask('STARTTLS\r\n');
    const client = await plain.encrypt();
    await client.ask('EHLO client.example\r\n');
    for (let turn = 0; turn < 15; turn++) {
      const parts = [
        pick(['PLAIN', 'LOGIN', 'plain', 'CRAM', '=', '*']),
        pick([' ', '  ', ' =', '\t']),
        word(),
      ];
      let reply = await client.ask(`AUTH ${parts.slice(0, random(4)).join('')}\r\n`);
      for (let answer = 0; reply.startsWith('334') && answer < 3; answer++)
        reply = await client.ask(`${pick(['*', '=', '!', ' ', word()])}\r\n`);
      assert.match(reply, /^5\d\d /);
    }
    client.socket.destroy();
  }
});
