/** Emails of hostile fields: what is accepted becomes a message that is sound, and no header line is one that a caller wrote. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { emailBody, headerLines } from '../emails/fixtures.ts';
import { anyCharacter } from '../support/any-character.ts';
import { HOSTILE } from './hostile.ts';
import { openBadInput, run } from './world.ts';

const world = await openBadInput();
const { ask } = world;
const { app } = world.populated.testApp;
after(() => world.close());

test('an Idempotency-Key may be anything', async () => {
  const payload = JSON.stringify(emailBody());
  await run(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
      const headers = { 'idempotency-key': text.replace(/[^\t -~]/g, '') };
      const { status } = await ask('public', { method: 'POST', url: '/v1/emails', payload, headers });
      assert.ok([200, 400].includes(status));
    }),
    100,
  );
});

/** In the order they are written (RFC 5322 section 3.6). */
const FIELDS = ['From', 'To', 'Cc', 'Reply-To', 'Subject', 'Message-ID', 'MIME-Version', 'Content-Type'];
const PIECES = ['\r', '\n', '\0', '\u2028', ' ', 'a', 'Bcc: x@evil.example', '=?', '?=', ':', '"', '\\'];

test('no subject and no display name adds a line to the header', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.constantFrom(...HOSTILE),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join('')),
  );
  let accepted = 0;
  await run(
    fc.asyncProperty(hostile, hostile, hostile, async (subject, name, other) => {
      const quoted = `"${name.replace(/["\\]/g, '\\$&')}" <a@rcpt.example>`;
      const raw = `${other} <b@rcpt.example>`;
      const body = emailBody({ subject: `s${subject}`, to: [quoted], cc: [raw], replyTo: quoted });
      let answer = await ask('public', { method: 'POST', url: '/v1/emails', payload: JSON.stringify(body) });
      if (answer.status === 400) {
        const plainer = emailBody({
          ...{ subject: `s${subject}`, to: 'a@b.example', cc: 'c@b.example', replyTo: 'a@b.example' },
        });
        answer = await ask('public', { method: 'POST', url: '/v1/emails', payload: JSON.stringify(plainer) });
      }
      if (answer.status !== 200) return;
      accepted++;
      const lines = await headerLines(app, String(answer.body.id));
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      assert.deepEqual(names, [...FIELDS, 'Content-Transfer-Encoding'], lines.join('\n'));
      assert.ok(
        lines.every((line) => /^[\t -~]*$/.test(line)),
        'ASCII alone, and no bare CR or LF',
      );
    }),
    150,
  );
  assert.ok(accepted > 50, `${accepted} were accepted`);
});
