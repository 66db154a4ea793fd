import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { startSmtpSink } from '../support/smtp-sink.ts';

const sink = await startSmtpSink({ keepRaw: true });
after(() => sink.close());
beforeEach(() => sink.messages.splice(0));

const HEADER = 'Message-ID: <one@example.test>\r\nSubject: hello\r\n\r\n';

/** Sends each part when the reply to the one before has come; resolves with the last reply. */
async function talk(socket: Socket, parts: readonly string[]): Promise<string> {
  socket.setEncoding('latin1');
  let [reply] = (await once(socket, 'data')) as [string];
  for (const part of parts) {
    socket.write(part);
    [reply] = (await once(socket, 'data')) as [string];
  }
  return reply;
}

const ENVELOPE = [
  'EHLO client.test\r\n',
  'MAIL FROM:<b+1@bounce.test>\r\n',
  'RCPT TO:<a@example.test>\r\n',
  'RCPT TO:<b@example.test>\r\n',
  'DATA\r\n',
];

test('a message is recorded with its envelope, its Message-ID and its bytes', async () => {
  const socket = connect(sink.port, sink.host);
  const reply = await talk(socket, [...ENVELOPE, `${HEADER}..dots\r\n.\r\n`]);
  socket.destroy();
  assert.match(reply, /^250 /);
  const [message] = sink.messages;
  assert.equal(message?.messageId, '<one@example.test>');
  assert.equal(message?.mailFrom, 'b+1@bounce.test');
  assert.deepEqual(message?.recipients, ['a@example.test', 'b@example.test']);
  assert.equal(message?.raw?.toString(), `${HEADER}.dots\r\n`);
});

test('a message whose sender dies before the dot is not recorded', async () => {
  const socket = connect(sink.port, sink.host);
  await talk(socket, ENVELOPE);
  const before = sink.connections();
  socket.end(`${HEADER}half`);
  await once(socket, 'close');
  const next = connect(sink.port, sink.host);
  await talk(next, ['NOOP\r\n']);
  next.destroy();
  assert.equal(sink.connections(), before + 1);
  assert.deepEqual(sink.messages, []);
});

test('a message whose sender dies after the dot is recorded', async () => {
  const slow = await startSmtpSink({ replyDelayMs: 60_000 });
  try {
    const socket = connect(slow.port, slow.host);
    await talk(socket, ENVELOPE);
    socket.end(`${HEADER}whole\r\n.\r\n`);
    await once(socket, 'end').catch(() => {});
    const next = connect(slow.port, slow.host);
    await talk(next, ['NOOP\r\n']);
    next.destroy();
    assert.equal(slow.messages[0]?.messageId, '<one@example.test>');
    socket.destroy();
  } finally {
    await slow.close();
  }
});

test('messages pipelined into each other are told apart', async () => {
  const socket = connect(sink.port, sink.host);
  await talk(socket, ['EHLO client.test\r\n']);
  let replies = '';
  socket.on('data', (text: string) => {
    replies += text;
  });
  const group = (to: string) => `MAIL FROM:<b+1@bounce.test>\r\nRCPT TO:<${to}@example.test>\r\nDATA\r\n`;
  const message = (id: string) => `Message-ID: <${id}@example.test>\r\n\r\n${id}\r\n.\r\n`;
  for (const part of [
    group('a'),
    message('one') + group('b'),
    message('two') + group('c'),
    message('three'),
  ]) {
    const before = replies.match(/^354/gm)?.length ?? 0;
    socket.write(part);
    const isLast = part === message('three');
    while (!isLast && (replies.match(/^354/gm)?.length ?? 0) === before) await once(socket, 'data');
  }
  while (sink.messages.length < 3) await once(socket, 'data');
  socket.destroy();
  assert.deepEqual(
    sink.messages.map(({ messageId, recipients, raw }) => [
      messageId,
      recipients.join(),
      raw?.toString().slice(-7),
    ]),
    [
      ['<one@example.test>', 'a@example.test', '\n\r\none\r\n'.slice(-7)],
      ['<two@example.test>', 'b@example.test', '\r\ntwo\r\n'.slice(-7)],
      ['<three@example.test>', 'c@example.test', 'three\r\n'],
    ],
  );
});
