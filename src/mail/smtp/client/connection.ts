/**
 * A socket as an SMTP client sees it: replies in, bytes out, a deadline on each. It always has handlers for `error` and
 * `close`, so that a peer that vanishes fails the next read and never ends the process with an exception. Only one read
 * may run at a time; `transaction.ts` decides whose.
 */
import type { Socket } from 'node:net';
import { type Clock, TimeoutError } from '../../../system/clock.ts';
import { Deadline } from '../../connection/deadline.ts';
import { ReplyFormatError, ReplyReader, type SmtpReply } from '../reply.ts';
import { networkError, protocolError, type SmtpPhase } from './failure.ts';
import { PRESSED_CHECK_MS, PRESSED_TIMEOUT_MS } from './timeouts.ts';

/** Maximum time to write the last line of an abandoned connection: the wait for the answer to QUIT (timeouts.ts). */
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
  /** Reason why nothing more can arrive. Replies that arrived earlier are still read. */
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

  /** Time of the monotonic clock, in milliseconds. */
  get now(): number {
    return this.#clock.elapsed();
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /**
   * True when bytes have arrived that were not read. After the 220 to STARTTLS an attacker may have sent them; on an idle
   * session they are a goodbye.
   */
  get hasInput(): boolean {
    return this.#reader.hasInput;
  }

  get hasReply(): boolean {
    return this.#reader.hasReply;
  }

  /** Returns the next reply that has already arrived, without waiting for one. */
  takeReply(): SmtpReply | undefined {
    return this.#reader.next();
  }

  /** Returns the next reply and waits for it if necessary. @throws SmtpError */
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

  /**
   * Sends a few bytes, in one packet with everything else that is sent before the event loop continues. `replies` is the
   * number of commands in them, each of which the peer answers once. Returns false when the peer's window is
   * full. When the connection has ended, the next read throws.
   */
  send(bytes: string | Uint8Array, replies = 0): boolean {
    this.expect(replies);
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(this.#flush);
    }
    return this.#socket.write(bytes);
  }

  /** Resolves when the bytes sent so far have been handed to the operating system. */
  flushed(): Promise<void> {
    return new Promise((resolve) => process.nextTick(resolve));
  }

  /** Sends any amount of bytes. Resolves once more can be sent, or when a reply has arrived. @throws SmtpError */
  async write(phase: SmtpPhase, bytes: Uint8Array, timeoutMs: number): Promise<void> {
    this.#throwIfSilent(phase);
    if (this.send(bytes)) return;
    await this.#wait('sending', phase, timeoutMs);
    this.#throwIfSilent(phase);
  }

  /** Hands the socket over and ends this connection. Errors of the socket stay handled. */
  detach(): Socket {
    this.#deadline.cancel();
    this.#socket.off('close', this.#onClose);
    this.#socket.off('end', this.#onClose);
    this.#socket.off('data', this.#onData);
    this.#socket.off('drain', this.#onDrain);
    return this.#socket;
  }

  destroy(reason = new Error('the session was closed')): void {
    this.#end(reason);
  }

  /** Sends a last line and closes the socket once it is written, at the latest after `LAST_LINE_MS`. */
  endWith(line: string): void {
    this.#socket.end(line, () => this.destroy());
    this.#clock.after(LAST_LINE_MS, () => this.destroy());
  }

  /**
   * Throws when the connection has ended and no reply is left to read. A reply explains the end better: a server that
   * refuses a message early reads the rest of it as commands, and its many replies to those end the connection.
   */
  #throwIfSilent(phase: SmtpPhase): void {
    if (!this.#reader.hasReply) this.#throwIfEnded(phase);
  }

  #throwIfEnded(phase: SmtpPhase): void {
    if (!this.#ended) return;
    if (this.#ended instanceof ReplyFormatError) throw protocolError(phase, this.#ended.message);
    throw networkError(phase, this.#ended);
  }

  /** Waits under one deadline, however many packets arrive: a peer that sends byte by byte gains no time. */
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

  /** Ends the connection. Only the first reason is kept. */
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
