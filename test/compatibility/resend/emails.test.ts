/** Emails by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SANDBOX, SIMULATOR } from '../../emails/fixtures.ts';
import { openSpool, START_MS } from '../../support/spool.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const spool = await openSpool();
after(() => spool.close());
const clientWith = await clientsOf(spool);
const resend = clientWith();

const HELLO = {
  from: `Acme <onboarding@${SANDBOX}>`,
  to: [`delivered@${SIMULATOR}`],
  subject: 'hello world',
  html: '<p>it works!</p>',
};
const native = async (id: string) => (await spool.request('GET', `/v1/emails/${id}`)).body;

test('an email is sent, with every field that has a counterpart', async () => {
  const { id } = await dataOf(
    resend.emails.send({
      ...HELLO,
      cc: 'carol@rcpt.example',
      bcc: ['dave@rcpt.example'],
      replyTo: 'desk@sender.example',
      text: 'it works!',
      headers: { 'X-Entity-Ref-ID': '123' },
      tags: [{ name: 'category', value: 'confirm_email' }],
      attachments: [
        { filename: 'a.txt', content: Buffer.from('bytes'), contentType: 'text/plain' },
        { filename: 'b.png', content: Buffer.alloc(100_000).toString('base64'), contentId: 'logo' },
      ],
    }),
  );
  const email = await native(id);
  assert.equal(email.from, HELLO.from);
  assert.equal(email.type, 'transactional');
  assert.deepEqual(
    [email.to, email.cc, email.bcc, email.replyTo],
    [HELLO.to, ['carol@rcpt.example'], ['dave@rcpt.example'], ['desk@sender.example']],
  );
  assert.deepEqual([email.subject, email.html, email.text], [HELLO.subject, HELLO.html, 'it works!']);
  assert.deepEqual(
    [email.headers, email.tags],
    [{ 'X-Entity-Ref-ID': '123' }, { category: 'confirm_email' }],
  );
  const files = email.attachments.map(({ filename, size, contentId }: Record<string, unknown>) => [
    filename,
    size,
    contentId,
  ]);
  assert.deepEqual(files, [
    ['a.txt', 5, null],
    ['b.png', 100_000, 'logo'],
  ]);
});

test('a refusal has the shape of Resend, its names, and its spelling of fields', async () => {
  const send = (more: object) => refusalOf(resend.emails.send({ ...HELLO, ...more } as never));
  assert.match(await send({ subject: undefined }), /^422 missing_required_field: `subject` is required$/);
  assert.match(await send({ replyTo: 'nobody' }), /^422 validation_error: `reply_to`/);
  assert.match(await send({ from: 'nobody' }), /^422 invalid_from_address: `from`/);
  assert.match(await send({ from: 'a@other.example' }), /^403 validation_error: /);
  assert.match(await send({ attachments: [{ filename: 'x', content: '%' }] }), /^422 invalid_attachment: /);
  assert.match(await send({ tags: ['x'] }), /^422 validation_error: `tags\[0\]` must be an object/);
  const stranger = clientWith('svc_dev_nobody');
  assert.match(await refusalOf(stranger.emails.send(HELLO)), /^403 invalid_api_key: /);
  const reader = clientWith(await spool.newKey({ permission: 'read_only' }));
  assert.match(await refusalOf(reader.emails.send(HELLO)), /^401 restricted_api_key: /);
});

test('a call without a counterpart says why, and an unknown one that it is unknown', async () => {
  assert.match(await refusalOf(resend.usage.get()), /^404 not_found: Read the usage with GET \/v1\/plan$/);
  assert.match(await refusalOf(resend.get('/nothing')), /^404 not_found: Path not found$/);
});

test('a repeated email with the same Idempotency-Key is sent once', async () => {
  const email = { ...HELLO, scheduledAt: 'in 10 min' };
  const first = await dataOf(resend.emails.send(email, { idempotencyKey: 'welcome/1' }));
  await spool.clock.advance(5_000);
  const again = await dataOf(resend.emails.send(email, { idempotencyKey: 'welcome/1' }));
  assert.equal(again.id, first.id);
  assert.equal((await native(first.id)).scheduledAt, new Date(START_MS + 600_000).toISOString());
  const other = resend.emails.send({ ...email, subject: 'Other' }, { idempotencyKey: 'welcome/1' });
  assert.match(await refusalOf(other), /^409 invalid_idempotent_request: /);
});
