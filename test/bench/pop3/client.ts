/** A POP3 client over TLS that looks at no more of the responses than it must. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

const LINE_END = Buffer.from('\r\n');
/** End of a response with several lines. A line that begins with a dot has two of them. */
const LONG_END = Buffer.from('\r\n.\r\n');
/** Time without input after which the server counts as stopped. */
const TIMEOUT_MS = 120_000;

export class Pop3Connection {
  readonly #socket: TLSSocket;
  /** Octets that may begin the end that is waited for. */
  #before = Buffer.alloc(0);
  #onChunk: (chunk: Buffer) => void = () => {};
  #bytes = 0;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#onChunk(chunk));
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the POP3 server does not answer')));
  }

  /** Connects and logs in. */
  static async login(port: number, user: { username: string; password: string }): Promise<Pop3Connection> {
    const plain = connect({ host: '127.0.0.1', port, noDelay: true });
    const socket = connectTls({ socket: plain, rejectUnauthorized: false });
    const connection = new Pop3Connection(socket);
    const greeting = connection.#ends(LINE_END, 1);
    await once(socket, 'secureConnect');
    await greeting;
    await connection.short(`USER ${user.username}`);
    await connection.short(`PASS ${user.password}`);
    return connection;
  }

  /** Runs a command whose response is one line. */
  async short(command: string): Promise<void> {
    await this.#run(command, LINE_END, 1);
  }

  /** Runs commands whose responses have several lines, all sent at once. Returns the size of the responses. */
  async long(...commands: string[]): Promise<number> {
    return await this.#run(commands.join('\r\n'), LONG_END, commands.length);
  }

  close(): void {
    this.#socket.destroy();
  }

  async #run(commands: string, end: Buffer, count: number): Promise<number> {
    this.#bytes = 0;
    const answered = this.#ends(end, count);
    this.#socket.write(`${commands}\r\n`);
    await answered;
    return this.#bytes;
  }

  /** Resolves when this end has come so many times. Rejects when the first response refuses. */
  #ends(end: Buffer, count: number): Promise<void> {
    let left = count;
    let isFirst = true;
    return new Promise((resolve, reject) => {
      this.#socket.once('close', () => reject(new Error('the POP3 server has closed the connection')));
      this.#onChunk = (chunk) => {
        if (isFirst && chunk[0] !== 0x2b) return reject(new Error(chunk.toString()));
        isFirst = false;
        this.#bytes += chunk.length;
        const bytes = this.#before.length > 0 ? Buffer.concat([this.#before, chunk]) : chunk;
        let at = 0;
        for (let found = bytes.indexOf(end); found >= 0; found = bytes.indexOf(end, at)) {
          at = found + end.length;
          left--;
        }
        this.#before = Buffer.from(bytes.subarray(Math.max(at, bytes.length - end.length + 1)));
        if (left <= 0) resolve();
      };
    });
  }
}
