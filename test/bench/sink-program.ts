/**
 * A sink of our own, for machines without smtp-sink and for what that cannot do: STARTTLS, replies that take their time, and several
 * addresses. It takes every message, pipelined or not, and keeps count in a file.
 */
import { openSync, writeSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SinkOptions } from './sink.ts';

const {
  port,
  file,
  addresses = ['127.0.0.1'],
  delayMs = 0,
  slow,
  tls,
} = JSON.parse(process.argv[2] ?? '') as {
  port: number;
  file: string;
} & SinkOptions;
const counter = openSync(file, 'a');
const secureContext = tls && createSecureContext({ cert: tls.chain, key: tls.key });
const END_OF_DATA = '\r\n.\r\n';
let messages = 0;

for (const address of addresses) createServer({ noDelay: true }, serve).listen(port, address);

function serve(socket: Socket): void {
  const isSlow = slow !== undefined && socket.localAddress === slow.address;
  const waitMs = isSlow ? slow.delayMs : delayMs;
  socket.on('error', () => socket.destroy());
  const answer = (replies: string) => {
    if (waitMs === 0) return void socket.write(replies);
    setTimeout(() => socket.destroyed || socket.write(replies), waitMs);
  };
  answer('220 sink.test ESMTP\r\n');
  read(socket, { answer, counts: !isSlow, offersTls: secureContext !== undefined });
}

type Reading = { answer(replies: string): void; counts: boolean; offersTls: boolean };

function read(socket: Socket, { answer, counts, offersTls }: Reading): void {
  let text = '';
  let inData = false;
  const onData = (part: Buffer) => {
    text += part.toString('latin1');
    let replies = '';
    for (;;) {
      const end = text.indexOf(inData ? END_OF_DATA : '\r\n');
      if (end < 0) break;
      const line = text.slice(0, inData ? 0 : end);
      text = text.slice(end + (inData ? END_OF_DATA.length : 2));
      if (/^STARTTLS/i.test(line)) {
        socket.off('data', onData);
        socket.write('220 2.0.0 Ready\r\n');
        return secure(socket, counts);
      }
      replies += inData ? countMessage(counts) : replyTo(line, offersTls);
      inData = !inData && /^DATA/i.test(line);
    }
    if (replies !== '') answer(replies);
  };
  socket.on('data', onData);
}

function secure(socket: Socket, counts: boolean): void {
  const encrypted = new TLSSocket(socket, { isServer: true, secureContext });
  encrypted.on('error', () => encrypted.destroy());
  read(encrypted, { answer: (replies) => encrypted.write(replies), counts, offersTls: false });
}

function countMessage(counts: boolean): string {
  if (counts) {
    messages += 1;
    writeSync(counter, `mesg=${messages}\r`);
  }
  return '250 2.0.0 Ok\r\n';
}

function replyTo(line: string, offersTls: boolean): string {
  if (/^EHLO/i.test(line))
    return `250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n${offersTls ? '250-STARTTLS\r\n' : ''}250 ENHANCEDSTATUSCODES\r\n`;
  if (/^DATA/i.test(line)) return '354 End data with <CR><LF>.<CR><LF>\r\n';
  if (/^QUIT/i.test(line)) return '221 2.0.0 Bye\r\n';
  return '250 2.0.0 Ok\r\n';
}
