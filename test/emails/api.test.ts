/** An email that was handed over by SMTP is shown with the texts of its message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSubmissionWorld, submit } from '../submission/submission-world.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';

const world = await openSubmissionWorld();
const FROM = `orders@${SENDER_DOMAIN}`;

async function send(message: string) {
  const client = await world.logIn('x', world.liveKey);
  const reply = await submit(client, { from: FROM, message: `From: ${FROM}\r\n${message}` });
  client.socket.destroy();
  return world.email(/em_[0-9a-z]{26}/.exec(reply)?.[0] ?? assert.fail(reply));
}

test('both texts of a message are shown, decoded', async () => {
  const part = (type: string, text: string) =>
    `--b\r\nContent-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text}\r\n`;
  const email = await send(
    `MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n${part('plain', 'Grüße')}${part('html', '<p>Grüße</p>')}--b--\r\n`,
  );
  assert.equal(email.text.trim(), 'Grüße');
  assert.match(email.html, /<p>Grüße<\/p>/);
});

test('a message without a text, and one that is large, have none', async () => {
  const empty = await send('Subject: Nothing\r\n\r\n');
  assert.deepEqual([empty.html, empty.text], [null, null]);
  const line = `${'A'.repeat(76)}\r\n`;
  const large = await send(`Subject: Large\r\n\r\n${line.repeat(140_000)}`);
  assert.deepEqual([large.html, large.text], [null, null]);
});
