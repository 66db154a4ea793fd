/** An IMAP client over TLS that sends one command at a time and looks at no more of the responses than it must. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

export type ImapUser = { username: string; password: string };

export type Answer = {
  /** From the first octet of the command to its completion. */
  ms: number;
  /** Size of all responses. */
  bytes: number;
  /** Responses, where they were asked for. */
  text: string;
};

/** Maximum length of a completion, with the set of UIDs in it. */
const MAX_COMPLETION_OCTETS = 4_096;
/** Nothing here takes longer unless it has stopped. */
const TIMEOUT_MS = 120_000;

export class ImapConnection {
  readonly #socket: TLSSocket;
  #tag = 0;
  #onChunk: (chunk: Buffer) => void = () => {};

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#onChunk(chunk));
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the IMAP server does not answer')));
  }

  /** Connects and waits for the greeting. */
  static async connect(port: number, localAddress = '127.0.0.1'): Promise<ImapConnection> {
    const plain = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    const socket = connectTls({ socket: plain, rejectUnauthorized: false });
    const connection = new ImapConnection(socket);
    const greeting = connection.untilText('\r\n');
    await once(socket, 'secureConnect');
    await greeting;
    return connection;
  }

  static async login(
    port: number,
    { username, password }: ImapUser,
    localAddress?: string,
  ): Promise<ImapConnection> {
    const connection = await ImapConnection.connect(port, localAddress);
    await connection.run(`LOGIN ${username} "${password}"`);
    return connection;
  }

  /** Runs a command to its completion. @throws Error when it is refused */
  async run(command: string | readonly Buffer[], keepsText = false): Promise<Answer> {
    const tag = `bench${++this.#tag}`;
    const startedAt = performance.now();
    let bytes = 0;
    let tail = Buffer.alloc(0);
    const kept: Buffer[] = [];
    const completion = await this.#receive<string>(
      (chunk, resolve) => {
        bytes += chunk.length;
        if (keepsText) kept.push(chunk);
        tail = Buffer.concat([tail, chunk.subarray(-MAX_COMPLETION_OCTETS)]).subarray(-MAX_COMPLETION_OCTETS);
        const line = tail.at(-1) === LF ? lastLine(tail) : '';
        if (line.startsWith(`${tag} `)) resolve(line.slice(tag.length + 1));
      },
      [`${tag} `, ...(typeof command === 'string' ? [command] : command), '\r\n'],
    );
    const ms = performance.now() - startedAt;
    if (!completion.startsWith('OK')) throw new Error(`the server answered ${completion.trim()}`);
    return { ms, bytes, text: Buffer.concat(kept).toString('latin1') };
  }

  /** Adds messages in one command. Resolves with its time. */
  async append(folder: string, messages: readonly Buffer[]): Promise<number> {
    const literals = messages.flatMap((message) => [Buffer.from(` {${message.length}+}\r\n`), message]);
    return (await this.run([Buffer.from(`APPEND ${folder}`), ...literals])).ms;
  }

  /** Begins IDLE, and resolves when the server has said so. */
  async idle(): Promise<void> {
    const begun = this.untilText('+ ');
    this.#socket.write('idle IDLE\r\n');
    await begun;
  }

  async done(): Promise<void> {
    const ended = this.untilText('idle OK');
    this.#socket.write('DONE\r\n');
    await ended;
  }

  /** Resolves with the time when a response with this text has come. */
  async untilText(wanted: string): Promise<number> {
    let text = '';
    return await this.#receive((chunk, resolve) => {
      text += chunk.toString('latin1');
      if (text.includes(wanted)) resolve(performance.now());
    }, []);
  }

  /** Sends octets, and resolves when everything that was received since satisfies the condition. */
  async sendUntil(octets: Buffer | string, isEnough: (received: Buffer) => boolean): Promise<void> {
    let received = Buffer.alloc(0);
    await this.#receive<void>(
      (chunk, resolve) => {
        received = Buffer.concat([received, chunk]);
        if (isEnough(received)) resolve();
      },
      [octets],
    );
  }

  close(): void {
    this.#socket.destroy();
  }

  async #receive<T>(
    onChunk: (chunk: Buffer, resolve: (value: T) => void) => void,
    sent: readonly (string | Buffer)[],
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const onClose = () => reject(new Error('the IMAP server closed the connection'));
    this.#onChunk = (chunk) => onChunk(chunk, resolve);
    this.#socket.once('error', reject).once('close', onClose);
    this.#socket.cork();
    for (const piece of sent) this.#socket.write(piece);
    this.#socket.uncork();
    try {
      return await promise;
    } finally {
      this.#socket.off('error', reject).off('close', onClose);
    }
  }
}

const LF = 0x0a;

function lastLine(tail: Buffer): string {
  const text = tail.toString('latin1');
  return text.slice(text.lastIndexOf('\r\n', text.length - 3) + 1).trimStart();
}
