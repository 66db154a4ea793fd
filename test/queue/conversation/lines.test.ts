/** Conversations as lines, whatever a server has said. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SmtpEvent } from '../../../src/mail/smtp/client/events.ts';
import { decodeLines, encodeLines, linesOf } from '../../../src/queue/conversation/lines.ts';
import { type Conversation, lastOpening, recordIn } from '../../../src/queue/conversation/record.ts';

const CONNECTING = { kind: 'connecting', host: 'mx.example', address: '192.0.2.1', port: 25 } as const;
const received = (code: number, ...lines: string[]): SmtpEvent => ({
  kind: 'received',
  reply: { code, enhanced: undefined, lines },
});

function conversationOf(...events: SmtpEvent[]): Conversation {
  return events.map((event, index) => ({ at: 1_000 + index * 10, event }));
}

test('of a long reply only the beginning is recorded, and a short one as it is', () => {
  const claim = { site: 'mx', message: { id: 'em_1', tenantId: 'ten_1' }, conversation: [] as Conversation };
  const trace = { isWatched: false, show() {} };
  const observe = recordIn({ clock: { elapsed: () => 0 }, trace }, claim);
  const short = received(250, 'mx', 'PIPELINING');
  observe(short);
  observe(received(550, 'a'.repeat(1_500), 'b'.repeat(600), 'c'.repeat(600)));
  const [first, second] = claim.conversation.map(({ event }) => event);
  assert.equal(first, short);
  assert.deepEqual(second, received(550, 'a'.repeat(1_500), 'b'.repeat(547)));
});

test('each line has its direction and the time since its session began to connect', () => {
  const tls = { version: 'TLSv1.3', cipher: 'TLS_X', authorized: false, fault: 'self-signed certificate' };
  const conversation = conversationOf(
    CONNECTING,
    { kind: 'failed', failure: { phase: 'connect', kind: 'connection', message: 'refused' } },
    CONNECTING,
    { kind: 'connected' },
    received(220, 'mx', 'ESMTP'),
    { kind: 'tls', tls },
    { kind: 'sent', commands: 'MAIL FROM:<a@b>\r\nDATA\r\n' },
    received(354),
    { kind: 'content', sizeBytes: 12 },
  );
  const lines = linesOf(conversation);
  assert.equal(
    encodeLines(lines),
    [
      '0 * connecting to mx.example [192.0.2.1], port 25',
      '10 * refused',
      '0 * connecting to mx.example [192.0.2.1], port 25',
      '10 * connected',
      '20 < 220-mx',
      '20 < 220 ESMTP',
      '30 * TLSv1.3 (TLS_X); the certificate was not verified: self-signed certificate',
      '40 > MAIL FROM:<a@b>',
      '40 > DATA',
      '50 < 354',
      '60 * the message, 12 octets, and the final dot were sent',
    ].join('\n'),
  );
  assert.deepEqual(decodeLines(encodeLines(lines)), lines);
});

test('texts of servers stay on their line, without hidden characters, and are cut', () => {
  const [line] = linesOf(conversationOf(received(550, `a\n1 > QUIT\u202e${'x'.repeat(5_000)}`)));
  assert.ok(line);
  assert.ok(line.text.startsWith('550 a 1 > QUITxxx'));
  assert.equal(line.text.length, 512);
  assert.deepEqual(decodeLines(encodeLines([line])), [line]);
});

test('a long conversation keeps its beginning and its end within the limits', () => {
  const long = conversationOf(
    CONNECTING,
    ...Array.from({ length: 400 }, (_, index) => received(250, `line ${index}`)),
    received(550, 'no'),
  );
  const many = linesOf(long);
  assert.ok(many.length <= 121, `${many.length} lines`);
  assert.match(many[0]?.text ?? '', /^connecting/);
  assert.equal(many.at(-1)?.text, '550 no');
  assert.ok(many.some(({ text }) => /^\d+ lines are left out$/.test(text)));
  const wide = linesOf(conversationOf(...Array.from({ length: 100 }, () => received(250, 'y'.repeat(900)))));
  assert.ok(encodeLines(wide).length < 10_000, `${encodeLines(wide).length} characters`);
});

test('a recorded conversation has a limit, keeps its beginning and goes on', () => {
  let now = 0;
  const conversation: Conversation = [];
  const claim = { site: 'mx.example', message: { id: 'em_1', tenantId: 'ten_1' }, conversation };
  const trace = { isWatched: false, show: () => assert.fail('nobody watches') };
  const observe = recordIn({ clock: { elapsed: () => now++ }, trace }, claim);
  observe(CONNECTING);
  for (let index = 0; index < 1_000; index++) observe(received(250, String(index)));
  assert.equal(conversation.length, 200);
  assert.deepEqual(conversation[0]?.event, CONNECTING);
  assert.deepEqual(conversation.at(-1), { at: 1_000, event: received(250, '999') });
  observe(CONNECTING);
  observe({ kind: 'connected' });
  assert.deepEqual(
    lastOpening(conversation).map(({ event }) => event.kind),
    ['connecting', 'connected'],
  );
});
