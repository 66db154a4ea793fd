/**
 * The receiver of posts. It answers each after a delay, counts them, and notes the age of the oldest event among them. It reads raw
 * HTTP/1.1, so that it takes as little as possible of the processors it shares with what is measured. `GET /open` makes it
 * answer, and the answer to `GET /` is what it has noted.
 */
import { createServer, type Socket } from 'node:net';

export type ReceiverInput = {
  /** Time until a post is answered, in milliseconds. */
  delayMs: number;
  /** Answers nothing before `GET /open`. */
  isClosed: boolean;
};

export type Received = {
  posts: number;
  /** Age of the oldest event that came since the last `GET /`, in milliseconds. */
  oldestMs: number;
  /** CPU time of this process. */
  cpuMs: number;
};

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** The field with the time of an event, or of a message that was received. */
const TIME = /"(?:createdAt|receivedAt)":"([^"]+)"/;

const { delayMs, isClosed } = JSON.parse(process.argv[2] ?? '') as ReceiverInput;
/** Sockets whose posts are answered later; undefined once posts are answered. */
let held: Socket[] | undefined = isClosed ? [] : undefined;
let posts = 0;
let oldestMs = 0;

const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : '');
});

function serve(socket: Socket): void {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
    const bodyAt = text.indexOf('\r\n\r\n') + 4;
    if (bodyAt < 4) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < bodyAt + length) return;
    const whole = text;
    text = '';
    if (whole.startsWith('GET')) socket.write(tell(whole));
    else take(socket, whole.slice(bodyAt));
  });
}

function take(socket: Socket, body: string): void {
  const [, time = ''] = TIME.exec(body) ?? [];
  oldestMs = Math.max(oldestMs, Date.now() - Date.parse(time));
  if (held) held.push(socket);
  else answer(socket);
}

function answer(socket: Socket): void {
  posts += 1;
  if (delayMs > 0) setTimeout(() => socket.write(OK), delayMs);
  else socket.write(OK);
}

function tell(request: string): string {
  if (request.startsWith('GET /open')) {
    for (const socket of held ?? []) answer(socket);
    held = undefined;
  }
  const { user, system } = process.cpuUsage();
  const received: Received = { posts, oldestMs, cpuMs: (user + system) / 1000 };
  oldestMs = 0;
  const body = JSON.stringify(received);
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
