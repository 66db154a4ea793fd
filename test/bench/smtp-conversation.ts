/** The least SMTP client: it says a line and waits for the last line of the reply. */
import { connect, type Socket } from 'node:net';

export type Conversation = {
  socket: Socket;
  /** Resolves with the last line of the next reply; rejects when the connection ends. */
  reply(): Promise<string>;
  /** Writes a line, to which CRLF is added where it has none, and returns the reply. */
  say(line: string): Promise<string>;
};

const LINE_END = '\r\n';

/** Connects to a port of this machine. */
export function converse(options: { port: number; localAddress?: string }): Conversation {
  const socket = connect({ host: '127.0.0.1', noDelay: true, ...options });
  socket.on('error', () => socket.destroy());
  const reply = repliesOf(socket);
  return {
    socket,
    reply,
    say(line) {
      socket.write(line.endsWith(LINE_END) ? line : line + LINE_END);
      return reply();
    },
  };
}

/** Returns a function that resolves with the last line of the next reply, and rejects when the connection ends. */
export function repliesOf(socket: Socket): () => Promise<string> {
  let text = '';
  let waiting: PromiseWithResolvers<string> | undefined;
  const settle = () => {
    const last = /^\d{3}(?: [^\r]*)?\r\n/m.exec(text);
    if (!waiting || !last) return;
    text = text.slice(last.index + last[0].length);
    waiting.resolve(last[0].trimEnd());
    waiting = undefined;
  };
  const fail = () => waiting?.reject(new Error('the server closed the connection'));
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
    settle();
  });
  socket.on('close', fail);
  return () => {
    waiting = Promise.withResolvers();
    const { promise } = waiting;
    settle();
    if (socket.destroyed) fail();
    return promise;
  };
}
