/**
 * A socket as an SMTP client sees it: replies in, bytes out, a deadline on each. It always has handlers for `error` and
 * `close`, so that a peer that vanishes is an answer to the next read and never an exception of the process. One reader
 * at a time; whose turn it is, `transaction.ts` knows.
 */
import type { Socket } from 'node:net';
import { type Clock, TimeoutError } from '../../../system/clock.ts';
import { Deadline } from '../deadline.ts';
import { ReplyFormatError, ReplyReader, type SmtpReply } from '../reply.ts';
import { networkError, protocolError, type SmtpPhase } from './failure.ts';
import { PRESSED_CHECK_MS, PRESSED_TIMEOUT_MS } from './timeouts.ts';

/** As long as we wait for the answer to QUIT. */
const LAST_LINE_MS = 2_000;

type Waiting = {
  what: 'the answer' | 'sending';
  /** Time at which the wait began, on the monotonic clock. */
  since: number;
  timeoutMs: number;
  resolve: () => void;
};

export class SmtpConnection {
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #reader = new ReplyReader();
  readonly #deadline: Deadline;
  readonly #isPressed: (() => boolean) | undefined;
  /** Why nothing more can come. Replies that came before are still read. */
  #ended: Error | undefined;
  #waiting: Waiting | undefined;
  #isCorked = false;

  /** `isPressed` returns true while connections are scarce, so that waits end early (timeouts.ts). */
  constructor(clock: Clock, socket: Socket, isPressed?: () => boolean) {
    this.#clock = clock;
    this.#socket = socket;
    this.#isPressed = isPressed;
    this.#deadline = new Deadline(clock, this.#onDeadline);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.on('end', this.#onClose);
    socket.on('data', this.#onData);
    socket.on('drain', this.#onDrain);
    if (socket.destroyed) this.#end(socket.errored ?? new Error('the peer closed the connection'));
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
      await this.#wait('the answer', phase, timeoutMs);
    }
  }

  /** Expects this number of further replies. The connection ends when the peer sends more than one reply beyond the expected ones. */
  expect(replies: number): void {
    this.#reader.expect(replies);
  }

  /** Sends a few bytes, in one packet with whatever else is sent before the event loop goes on. `replies` is the number of
   * commands in them, each of which the peer answers once. False when the peer's window has no more room. Where the
   * connection has ended, the read that follows says so. */
  send(bytes: string | Uint8Array, replies = 0): boolean {
    this.expect(replies);
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(this.#flush);
    }
    return this.#socket.write(bytes);
  }

  /** Resolves when what was sent has been handed to the system. */
  flushed(): Promise<void> {
    return new Promise((resolve) => process.nextTick(resolve));
  }

  /** As `send`, for any amount: resolves once there is room for more, or a reply has come meanwhile. @throws SmtpError */
  async write(phase: SmtpPhase, bytes: Uint8Array, timeoutMs: number): Promise<void> {
    this.#throwIfSilent(phase);
    if (this.send(bytes)) return;
    await this.#wait('sending', phase, timeoutMs);
    this.#throwIfSilent(phase);
  }

  /** Hands the socket over; this connection is at its end. Errors stay handled. */
  detach(): Socket {
    this.#deadline.cancel();
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

  /** A reply that came before the end is the better reason: a server that refuses a message early reads the rest of it as
   * commands, and its many replies to those end the connection. */
  #throwIfSilent(phase: SmtpPhase): void {
    if (!this.#reader.hasReply) this.#throwIfEnded(phase);
  }

  #throwIfEnded(phase: SmtpPhase): void {
    if (!this.#ended) return;
    if (this.#ended instanceof ReplyFormatError) throw protocolError(phase, this.#ended.message);
    throw networkError(phase, this.#ended);
  }

  /** One deadline for what is waited for, however many packets it takes: a peer that drips gains nothing. */
  #wait(what: Waiting['what'], phase: SmtpPhase, timeoutMs: number): Promise<void> {
    const mayShrink = this.#isPressed !== undefined && phase !== 'dot';
    this.#deadline.set(mayShrink ? Math.min(timeoutMs, PRESSED_TIMEOUT_MS) : timeoutMs);
    return new Promise((resolve) => {
      this.#waiting = { what, since: this.#clock.elapsed(), timeoutMs, resolve };
    });
  }

  #wake(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    waiting.resolve();
  }

  /** The first reason counts. */
  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#deadline.cancel();
    this.#socket.destroy();
    this.#wake();
  }

  readonly #flush = (): void => {
    this.#isCorked = false;
    this.#socket.uncork();
  };

  readonly #onDeadline = (): void => {
    if (!this.#waiting) return;
    const { what, since, timeoutMs } = this.#waiting;
    const waitedMs = this.#clock.elapsed() - since;
    if (waitedMs >= timeoutMs) {
      this.#end(new TimeoutError(`${what} took longer than ${timeoutMs} ms`));
    } else if (this.#isPressed?.()) {
      this.#end(
        new TimeoutError(`${what} took longer than ${PRESSED_TIMEOUT_MS} ms while connections were scarce`),
      );
    } else {
      this.#deadline.set(Math.min(PRESSED_CHECK_MS, timeoutMs - waitedMs));
    }
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#ended) return;
    let unreadable: ReplyFormatError | undefined;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof ReplyFormatError)) throw error;
      unreadable = error;
    }
    if (this.#reader.hasReply) this.#wake();
    if (unreadable) this.#end(unreadable);
  };

  readonly #onDrain = (): void => {
    if (this.#waiting?.what === 'sending') this.#wake();
  };

  readonly #onError = (error: Error): void => this.#end(error);
  readonly #onClose = (): void => this.#end(new Error('the peer closed the connection'));
}
