/** Single attachments of an email: each in the bytes that were given, whatever else the message consists of. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expireContent } from '../../src/emails/store.ts';
import { openSpool } from '../support/spool.ts';

const spool = await openSpool();
after(() => spool.close());
const stranger = await spool.addTenant('stranger');

const FILES = [
  { filename: 'Größe "名前".txt', contentType: 'text/plain', bytes: 'Plain ASCII,\r\nin two lines\n' },
  { filename: 'same.bin', contentType: 'application/octet-stream', bytes: 'first\0' },
  { filename: 'logo.png', contentType: 'image/png', contentId: 'logo', bytes: 'not really an image' },
  { filename: 'same.bin', contentType: 'application/octet-stream', bytes: 'other\0' },
  { filename: '../../etc/passwd', contentType: 'text/html', bytes: '<script>alert(1)</script>' },
  { filename: 'mail.eml', contentType: 'message/rfc822', bytes: 'Subject: within\r\n\r\nHello\r\n' },
];
const attachments = FILES.map(({ bytes, ...file }) => ({
  ...file,
  content: Buffer.from(bytes).toString('base64'),
}));
const CALENDAR = [
  ...[
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//example//EN',
    'METHOD:REQUEST',
    'BEGIN:VEVENT',
    'UID:1@example',
  ],
  ...['DTSTAMP:20260301T120000Z', 'DTSTART:20260302T120000Z', 'ORGANIZER:mailto:hello@sender.example'],
  ...['ATTENDEE:mailto:bob@rcpt.example', 'END:VEVENT', 'END:VCALENDAR', ''],
].join('\r\n');

async function file(id: string, number: number | string, key = spool.liveKey) {
  const headers = { authorization: `Bearer ${key}` };
  return spool.inject({ method: 'GET', url: `/v1/emails/${id}/attachments/${number}`, headers });
}

test('each attachment comes back in its bytes, by its place in the email, and no browser shows it', async () => {
  const id = await spool.accept('bob@rcpt.example', { html: '<img src="cid:logo">', attachments });
  for (const [index, { bytes }] of FILES.entries()) {
    const answer = await file(id, index + 1);
    assert.equal(answer.statusCode, 200, answer.body);
    assert.equal(answer.rawPayload.toString('latin1'), Buffer.from(bytes).toString('latin1'), String(index));
    assert.equal(answer.headers['content-type'], 'application/octet-stream');
    assert.match(String(answer.headers['content-disposition']), /^attachment; filename/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.match(String(answer.headers['content-security-policy']), /sandbox/);
  }
});

test('an invitation is a file too, behind the attachments of the request', async () => {
  const calendar = { method: 'REQUEST', content: CALENDAR };
  const id = await spool.accept('bob@rcpt.example', { attachments: attachments.slice(0, 1), calendar });
  assert.equal((await file(id, 1)).body, FILES[0]?.bytes);
  assert.equal((await file(id, 2)).body, CALENDAR);
});

test('what is no attachment is not found, and neither are those of another tenant', async () => {
  const id = await spool.accept('bob@rcpt.example', { attachments: attachments.slice(0, 1) });
  for (const number of ['0', '2', '01', '-1', 'x', '1e0', '1000'])
    assert.equal((await file(id, number)).statusCode, 404, number);
  assert.equal((await file(id, 1, stranger.liveKey)).statusCode, 404);
  assert.equal((await file(id, 1, spool.testKey)).statusCode, 404);
});

test('an attachment whose content was deleted is refused', async () => {
  const id = await spool.accept('bob@rcpt.example', { attachments: attachments.slice(0, 1) });
  const headers = { authorization: `Bearer ${spool.liveKey}` };
  await spool.inject({ method: 'POST', url: `/v1/emails/${id}/cancel`, headers });
  await spool.clock.advance(1);
  const now = spool.clock.now();
  const expiry = { after: '', before: 'z', rows: 50, now, endedBy: now };
  for (let next: string | undefined = ''; next !== undefined; )
    next = (await spool.app.db.commit(expireContent, { ...expiry, after: next })).next;
  const answer = await file(id, 1);
  assert.deepEqual([answer.statusCode, answer.json().error.type], [409, 'invalid_state']);
});
