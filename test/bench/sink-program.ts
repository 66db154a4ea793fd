/** A sink for machines without smtp-sink: takes every message, pipelined or not, and keeps count in a file. */
import { openSync, writeSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';

const { port, file } = JSON.parse(process.argv[2] ?? '') as { port: number; file: string };
const counter = openSync(file, 'a');
const END_OF_DATA = '\r\n.\r\n';
let messages = 0;

createServer({ noDelay: true }, serve).listen(port, '127.0.0.1');

function serve(socket: Socket): void {
  let text = '';
  let inData = false;
  socket.on('error', () => socket.destroy());
  socket.write('220 sink.test ESMTP\r\n');
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
    let replies = '';
    for (;;) {
      const end = text.indexOf(inData ? END_OF_DATA : '\r\n');
      if (end < 0) break;
      const line = text.slice(0, inData ? 0 : end);
      text = text.slice(end + (inData ? END_OF_DATA.length : 2));
      replies += inData ? countMessage() : replyTo(line);
      inData = !inData && /^DATA/i.test(line);
    }
    if (replies !== '') socket.write(replies);
  });
}

function countMessage(): string {
  messages += 1;
  writeSync(counter, `mesg=${messages}\r`);
  return '250 2.0.0 Ok\r\n';
}

function replyTo(line: string): string {
  if (/^EHLO/i.test(line))
    return '250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n';
  if (/^DATA/i.test(line)) return '354 End data with <CR><LF>.<CR><LF>\r\n';
  if (/^QUIT/i.test(line)) return '221 2.0.0 Bye\r\n';
  return '250 2.0.0 Ok\r\n';
}
