/** Hands over one large message by submission, in a process of its own, and prints a line when it was accepted. */
import { once } from 'node:events';
import { connect } from 'node:tls';

type LargeMessage = {
  port: number;
  login: { username: string; password: string };
  recipient: string;
  bytes: number;
};

const { port, login, recipient, bytes } = JSON.parse(process.argv[2] ?? '') as LargeMessage;
const LINE = Buffer.from(`${'A'.repeat(76)}\r\n`.repeat(1_000));
const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
let text = '';
socket.on('data', (part: Buffer) => {
  text += part.toString('latin1');
});

async function expect(code: string): Promise<void> {
  for (;;) {
    const last = /^(\d{3})(?: [^\r]*)?\r\n/m.exec(text);
    if (last) {
      text = text.slice(last.index + last[0].length);
      if (last[1] !== code) throw new Error(`the server answered ${last[0]}`);
      return;
    }
    await once(socket, 'data');
  }
}

const answer = Buffer.from(`\0${login.username}\0${login.password}`).toString('base64');
await expect('220');
for (const [line, code] of [
  ['EHLO client.test', '250'],
  [`AUTH PLAIN ${answer}`, '235'],
  [`MAIL FROM:<${login.username}>`, '250'],
  [`RCPT TO:<${recipient}>`, '250'],
  ['DATA', '354'],
] as const) {
  socket.write(`${line}\r\n`);
  await expect(code);
}
socket.write(`From: ${login.username}\r\nContent-Transfer-Encoding: base64\r\n\r\n`);
for (let sent = 0; sent < bytes; sent += LINE.length) if (!socket.write(LINE)) await once(socket, 'drain');
socket.write('.\r\n');
await expect('250');
console.log('accepted');
process.exit(0);
