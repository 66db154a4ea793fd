/** Invitations, AMP parts and dispositions: the structure of the message as an independent parser reads it, and the record of the email. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { createLinks } from '../../src/links/links.ts';
import { openMessage } from '../../src/queue/contents/open.ts';
import { readerFor } from '../../src/queue/contents/reader.ts';
import { returnAddressKeyOf } from '../../src/queue/return-path.ts';
import { findMessage } from '../../src/queue/store.ts';
import { openSpool } from '../support/spool.ts';
import { rawMessage, SANDBOX, senderOf } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());
const { accepted, refused } = senderOf(() => spool);

const LINES = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Acme//Booking//EN',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:1@acme.example',
  'DTSTAMP:20260301T120000Z',
  'DTSTART:20260310T090000Z',
  'SUMMARY:Größe {{name}}',
  'ORGANIZER:mailto:ada@acme.example',
  'ATTENDEE;RSVP=TRUE:mailto:bob@rcpt.example',
  'END:VEVENT',
  'END:VCALENDAR',
];
const ICS = `${LINES.join('\r\n')}\r\n`;
const calendar = { method: 'REQUEST', content: LINES.join('\n') };
const without = (name: string) => LINES.filter((line) => !line.startsWith(name)).join('\n');
const AMP =
  '<!doctype html><html ⚡4email data-css-strict><body>Hi {{name}} <a href="https://a.example/?q={{name}}">x</a></body></html>';

type Node = { type: string; head: string; body: string; parts: Node[] };

/** Splits a message into its parts by its boundaries, independently of our parser. */
function tree(raw: string): Node {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.slice(0, end).replace(/\r\n[ \t]/g, ' ');
  const body = raw.slice(end + 4);
  const type = /^Content-Type: ([^;\r\n]+)/m.exec(head)?.[1] ?? '';
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1];
  const parts = boundary === undefined ? [] : `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, -1);
  return { type, head, body, parts: parts.map((part) => tree(part.slice(2))) };
}

const shape = ({ type, parts }: Node): string =>
  parts.length === 0 ? type : `${type}(${parts.map(shape).join(' ')})`;
const treeOf = async (id: string) => tree(await rawMessage(spool.app, id));

test('an invitation is the last form of the text and a file, and the record shows it', async () => {
  const email = await accepted({ html: '<p>Come</p>', calendar, variables: { name: 'Bob' } });
  const root = await treeOf(email.id);
  assert.equal(
    shape(root),
    'multipart/mixed(multipart/alternative(text/plain text/html text/calendar) application/ics)',
  );
  const [, , invitation] = root.parts[0]?.parts ?? [];
  assert.match(invitation?.head ?? '', /^Content-Type: text\/calendar; method=REQUEST; charset=utf-8$/m);
  assert.match(root.parts[1]?.head ?? '', /Content-Disposition: attachment; filename="invite.ics"/);
  const parsed = await simpleParser(Buffer.from(await rawMessage(spool.app, email.id), 'latin1'));
  assert.deepEqual(
    parsed.attachments.map(({ contentType, content }) => [contentType, content.toString()]),
    [
      ['text/calendar', ICS],
      ['application/ics', ICS],
    ],
  );
  assert.deepEqual(email.calendar, { method: 'REQUEST', content: ICS });
  assert.deepEqual(email.missingVariables, []);
  assert.deepEqual(email.attachments, [
    {
      ...{
        filename: 'invite.ics',
        contentType: 'application/ics',
        contentId: null,
        disposition: 'attachment',
      },
      size: Buffer.byteLength(ICS),
    },
  ]);
});

test('an invitation goes with text alone, with images and files, in a batch and at a later time', async () => {
  const plain = await accepted({ text: 'Come', calendar });
  assert.equal(
    shape(await treeOf(plain.id)),
    'multipart/mixed(multipart/alternative(text/plain text/calendar) application/ics)',
  );
  const attachments = [
    { filename: 'logo.png', contentId: 'logo', content: 'AAAA' },
    { filename: 'a.pdf', content: 'AAAA' },
  ];
  const scheduledAt = new Date(spool.clock.now() + 3_600_000).toISOString();
  const full = { html: '<img src="cid:logo">', amp: AMP, calendar, attachments, scheduledAt, variables: {} };
  const rich = await accepted(full);
  assert.equal(
    shape(await treeOf(rich.id)),
    'multipart/mixed(multipart/alternative(text/plain text/x-amp-html multipart/related(text/html image/png) text/calendar) application/pdf application/ics)',
  );
  const emails = [full, { ...full, calendar: { method: 'CANCEL', content: ICS } }].map((more) => ({
    ...{ from: `a@${SANDBOX}`, to: 'bob@rcpt.example', subject: 'x', type: 'transactional', ...more },
  }));
  const { body } = await spool.request('POST', '/v1/emails/batch', { body: { emails } });
  const statuses = body.data.map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses, ['queued', 'failed']);
  assert.match(body.data[1].error.message, /must have the one line METHOD:CANCEL/);
});

test('every attempt has the same bytes, and the signature of the body holds for them', async () => {
  const email = await accepted({ html: '<p>Come</p>', amp: AMP, calendar });
  const message = await findMessage(spool.app.db.read, email.id);
  assert.ok(message && message.bodyHash !== '');
  const first = await rawMessage(spool.app, email.id);
  assert.equal(await rawMessage(spool.app, email.id), first);
});

test('a large invitation, whose content is taken out of the body, is read whole', async () => {
  const more = Array.from({ length: 2_000 }, (_, index) => `ATTENDEE:mailto:é${index}@rcpt.example`);
  const content = [...LINES.slice(0, 11), ...more, ...LINES.slice(11)].join('\r\n');
  const email = await accepted({ calendar: { method: 'REQUEST', content } });
  assert.equal(email.calendar.content, `${content}\r\n`);
});

test('a calendar that mail programs would ignore is refused with the reason', async () => {
  const bad = (content: string, message: RegExp, method = 'REQUEST') =>
    refused('calendar.content', { calendar: { method, content } }, message);
  await bad('Hello', /must begin with the line BEGIN:VCALENDAR/);
  await bad(LINES.slice(0, -1).join('\n'), /end with the line END:VCALENDAR/);
  await bad(ICS, /one line METHOD:CANCEL/, 'CANCEL');
  await bad(without('METHOD'), /METHOD:REQUEST/);
  await bad(without('VERSION'), /VERSION:2\.0/);
  await bad(without('PRODID'), /PRODID/);
  await bad(without('UID'), /UID/);
  await bad(without('DTSTAMP'), /DTSTAMP/);
  await bad(without('ORGANIZER'), /ORGANIZER/);
  await bad(without('ATTENDEE'), /ATTENDEE/);
  await bad(without('END:VEVENT'), /close its components/);
  await bad(`${ICS}${ICS}`, /exactly one VCALENDAR/);
  await bad(ICS.replace(/BEGIN:VEVENT[\s\S]*END:VEVENT\r\n/, ''), /contain an event/);
  await bad(ICS.replace('SUMMARY:', 'SUMMARY'), /property in each line.*line 9/);
  await bad(ICS.replace('Größe', 'a\0b'), /control characters/);
  await bad(ICS.replace('Größe', 'x'.repeat(256 * 1024)), /256 KiB/);
  await refused('calendar.method', { calendar: { method: 'request', content: ICS } });
});

test('an AMP part stands between text and HTML, with its values filled in and its links as they are', async () => {
  const email = await accepted({ html: '<p>Hi</p>', amp: AMP, variables: { name: 'A&b=1' } });
  const root = await treeOf(email.id);
  assert.equal(shape(root), 'multipart/alternative(text/plain text/x-amp-html text/html)');
  assert.match(root.parts[1]?.head ?? '', /^Content-Type: text\/x-amp-html; charset=utf-8$/m);
  assert.match(email.amp, /Hi A&amp;b=1 <a href="https:\/\/a\.example\/\?q=A%26b%3D1">/);
  assert.equal((await accepted({ html: '<p>Hi</p>' })).amp, null);
});

test('an AMP part of marketing mail has the link of its reader', async () => {
  const topic = await spool.request('POST', '/v1/topics', { body: { name: 'News', defaultOptIn: true } });
  const amp = AMP.replace('x</a>', '</a><a href="{{{unsubscribe_url}}}">Leave</a>');
  const email = await accepted({ type: 'broadcast', topicId: topic.body.id, html: '<p>Hi</p>', amp });
  const message = await findMessage(spool.app.db.read, email.id);
  assert.ok(message);
  const app = { ...spool.app, links: createLinks(spool.app) };
  const reader = readerFor({ ...app, returnAddressKey: returnAddressKeyOf(app) }, message, {
    ...{ address: 'bob@rcpt.example', position: 0 },
  });
  const { bytes } = await openMessage(app, { message, reader });
  const part = tree(bytes.inline?.toString('latin1') ?? '').parts[1];
  assert.equal(part?.type, 'text/x-amp-html');
  assert.doesNotMatch(part?.body ?? '', /unsubscribe_url/);
});

test('an AMP part that no program shows is refused', async () => {
  await refused('amp', { amp: AMP }, /needs `html`/);
  await refused('amp', { html: '<p>Hi</p>', amp: '<html><body>Hi</body></html>' }, /⚡4email/);
  await refused('amp', { html: '<p>Hi</p>', amp: `${AMP}${'x'.repeat(200_000)}` }, /200000 bytes/);
  await refused(
    'amp',
    {
      html: '<p>Hi</p>',
      amp: AMP.repeat(1) + '{{name}}'.repeat(30),
      variables: { name: 'x'.repeat(10_000) },
    },
    /200000 bytes/,
  );
});

test('the disposition of a file is that of the request, and shown', async () => {
  const one = async (more: object, content: object = { html: '<p>Hi</p>' }) => {
    const email = await accepted({
      ...content,
      attachments: [{ filename: 'a.png', content: 'AAAA', ...more }],
    });
    const root = await treeOf(email.id);
    const head = /Content-Disposition: (\w+)/.exec(await rawMessage(spool.app, email.id))?.[1];
    assert.equal(email.attachments[0].disposition, head);
    return [root.type, head];
  };
  assert.deepEqual(await one({ contentId: 'a' }), ['multipart/alternative', 'inline']);
  assert.deepEqual(await one({ contentId: 'a', disposition: 'attachment' }), [
    'multipart/mixed',
    'attachment',
  ]);
  assert.deepEqual(await one({ disposition: 'inline' }), ['multipart/mixed', 'inline']);
  assert.deepEqual(await one({}), ['multipart/mixed', 'attachment']);
  assert.deepEqual(await one({ contentId: 'a' }, { text: 'Hi' }), ['multipart/mixed', 'attachment']);
  await refused('attachments[0].disposition', {
    attachments: [{ filename: 'a', content: 'AAAA', disposition: 'form-data' }],
  });
});
