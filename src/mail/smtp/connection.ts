/**
 * A socket as an SMTP client sees it: replies in, bytes out, a deadline on each. It always has handlers for `error` and
 * `close`, so that a peer that vanishes is an answer to the next read and never an exception of the process.
 */
import type { Socket } from 'node:net';
import { type Clock, TimeoutError } from '../../system/clock.ts';
import { networkError, protocolError, SmtpError, type SmtpPhase } from './failure.ts';
import { ReplyFormatError, ReplyReader, type SmtpReply } from './reply.ts';

/** As long as we wait for the answer to QUIT. */
const LAST_LINE_MS = 2_000;

type Waiter = { resolve(): void; reject(error: Error): void };

export class SmtpConnection {
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #reader = new ReplyReader();
  /** Why nothing more can come. Replies that came before are still read. */
  #ended: Error | undefined;
  #waitingForReply: Waiter | undefined;
  #waitingForDrain: Waiter | undefined;

  constructor(clock: Clock, socket: Socket) {
    this.#clock = clock;
    this.#socket = socket;
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.on('end', this.#onClose);
    socket.on('data', this.#onData);
    socket.on('drain', this.#onDrain);
    if (socket.destroyed) this.#onClose();
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /** Whether bytes have come that nobody read: behind a 220 to STARTTLS somebody else's, on an idle session a goodbye. */
  get hasInput(): boolean {
    return this.#reader.hasInput;
  }

  get hasReply(): boolean {
    return this.#reader.hasReply;
  }

  /** A reply that has come already. */
  takeReply(): SmtpReply | undefined {
    return this.#reader.next();
  }

  /** @throws SmtpError */
  async read(phase: SmtpPhase, timeoutMs: number): Promise<SmtpReply> {
    for (;;) {
      const reply = this.#reader.next();
      if (reply) return reply;
      this.#throwIfEnded(phase);
      await this.#wait(phase, timeoutMs, 'the answer', (waiter) => {
        this.#waitingForReply = waiter;
      });
    }
  }

  /** Resolves once the peer's window has room for more, or a reply has come meanwhile. @throws SmtpError */
  async write(phase: SmtpPhase, bytes: string | Uint8Array, timeoutMs: number): Promise<void> {
    this.#throwIfEnded(phase);
    if (this.#socket.write(bytes)) return;
    await this.#wait(phase, timeoutMs, 'sending', (waiter) => {
      this.#waitingForDrain = waiter;
    });
  }

  /** Hands the socket over; this connection is at its end. Errors stay handled. */
  detach(): Socket {
    this.#socket.off('close', this.#onClose);
    this.#socket.off('end', this.#onClose);
    this.#socket.off('data', this.#onData);
    this.#socket.off('drain', this.#onDrain);
    return this.#socket;
  }

  destroy(): void {
    this.#end(new Error('the session was closed'));
  }

  /** Sends a last line; closes once it is out, or after a moment if it cannot be. */
  endWith(line: string): void {
    this.#socket.end(line, () => this.destroy());
    this.#clock.after(LAST_LINE_MS, () => this.destroy());
  }

  #throwIfEnded(phase: SmtpPhase): void {
    if (!this.#ended) return;
    throw this.#asSmtpError(phase, this.#ended);
  }

  #asSmtpError(phase: SmtpPhase, error: Error): SmtpError {
    if (error instanceof SmtpError) return error;
    if (error instanceof ReplyFormatError) return protocolError(phase, error.message);
    return networkError(phase, error);
  }

  /** One deadline for what is waited for, however many packets it takes: a peer that drips gains nothing. */
  #wait(
    phase: SmtpPhase,
    timeoutMs: number,
    what: string,
    register: (waiter: Waiter | undefined) => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () =>
        this.#end(new TimeoutError(`${what} took longer than ${timeoutMs} ms`)),
      );
      register({
        resolve: () => {
          timer.cancel();
          register(undefined);
          resolve();
        },
        reject: (error) => {
          timer.cancel();
          register(undefined);
          reject(this.#asSmtpError(phase, error));
        },
      });
    });
  }

  /** The first reason counts. */
  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#socket.destroy();
    this.#waitingForReply?.reject(reason);
    this.#waitingForDrain?.reject(reason);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#ended) return;
    let unreadable: ReplyFormatError | undefined;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof ReplyFormatError)) throw error;
      unreadable = error;
    }
    if (this.#reader.hasReply) {
      this.#waitingForReply?.resolve();
      this.#waitingForDrain?.resolve();
    }
    if (unreadable) this.#end(unreadable);
  };

  readonly #onDrain = (): void => this.#waitingForDrain?.resolve();
  readonly #onError = (error: Error): void => this.#end(error);
  readonly #onClose = (): void => this.#end(new Error('the peer closed the connection'));
}
