/**
 * The connection to a client: bytes in, responses out, and a deadline for each wait. Responses of one turn of the event loop leave
 * in one write. A client that does not read its responses gets no more of them, and its commands wait.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../system/clock.ts';
import { Deadline } from '../deadline.ts';
import { ClientGone, ConnectionFault, type FaultReason } from './fault.ts';
import { MAX_UNSENT_BYTES } from './options.ts';

/** Input that is held while nothing reads it. Beyond it the socket is not read, which stops the client. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Number of pieces of that input. A client that sends byte by byte makes many small ones, which have a cost of their own. */
const MAX_UNREAD_CHUNKS = 64;
/** Time for which a client may read the last responses of a connection that has ended. */
const LINGER_MS = 5_000;

/** Limit of a wait, and the fault that ends the connection when it has passed. */
export type Patience = { timeoutMs: number; reason: FaultReason };

export class Wire {
  readonly #clock: Clock;
  readonly #socket: Duplex;
  readonly #deadline: Deadline;
  /** Input that was not read yet, in order. */
  readonly #chunks: Buffer[] = [];
  #unreadBytes = 0;
  #isCorked = false;
  #hasEnded = false;
  #isPaused = false;
  #hasTimedOut = false;
  #isSignalled = false;
  #wake: (() => void) | undefined;
  #interruption: ConnectionFault | undefined;

  constructor(clock: Clock, socket: Duplex) {
    this.#clock = clock;
    this.#socket = socket;
    this.#deadline = new Deadline(clock, this.#onDeadline);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('drain', this.#onWake);
    if (socket.destroyed) this.#hasEnded = true;
  }

  /** Queues bytes, which leave at the end of this turn of the event loop. A text is sent as UTF-8. */
  send(bytes: Buffer | string): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      setImmediate(this.#uncork);
    }
    this.#socket.write(bytes);
  }

  /** Resolves when less than `MAX_UNSENT_BYTES` wait to be sent. @throws ConnectionFault; ClientGone */
  async drain(patience: Patience): Promise<void> {
    if (this.#socket.destroyed) throw new ClientGone();
    if (this.#socket.writableLength < MAX_UNSENT_BYTES) return;
    this.#uncork();
    this.#deadline.set(patience.timeoutMs);
    while (this.#socket.writableNeedDrain && this.#socket.writableLength >= MAX_UNSENT_BYTES) {
      if (this.#socket.destroyed) throw new ClientGone();
      await this.#wait();
      if (this.#hasTimedOut) throw faultOf(patience);
    }
  }

  /** Returns the next bytes, which belong to the caller. @throws ConnectionFault; ClientGone */
  async read(patience: Patience): Promise<Buffer> {
    const event = await this.#waitForInput(patience);
    const chunk = event === 'input' ? this.#chunks.shift() : undefined;
    if (!chunk) throw faultOf(patience);
    this.#unreadBytes -= chunk.length;
    return chunk;
  }

  /** Gives back bytes, which are the next ones that are read. */
  unread(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.unshift(bytes);
    this.#unreadBytes += bytes.length;
  }

  /** Resolves when input has come, `signal` was called since the last time, or the time has passed. @throws ClientGone */
  waitForEvent(timeoutMs: number): Promise<'input' | 'signal' | 'timeout'> {
    return this.#waitForInput({ timeoutMs, reason: 'idle' }, true);
  }

  /** Ends a `waitForEvent`, or the next one. */
  signal(): void {
    this.#isSignalled = true;
    this.#onWake();
  }

  /** Calls the listener when the client has sent its last octets, until the returned function is called. */
  onInputEnd(listener: () => void): () => void {
    this.#socket.once('end', listener);
    return () => void this.#socket.off('end', listener);
  }

  /** Ends the wait for a command. No further command is read. */
  interrupt(fault: ConnectionFault): void {
    this.#interruption = fault;
    this.#onWake();
  }

  /** Leaves the socket to another wire, with its unread input, after the responses that were sent. */
  detach(): void {
    const socket = this.#socket;
    this.#deadline.cancel();
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    socket.off('drain', this.#onWake);
    socket.pause();
    this.#uncork();
    for (const chunk of this.#chunks.reverse()) socket.unshift(chunk);
  }

  /**
   * Closes the connection after the responses that were sent. What the client sends meanwhile is dropped: a connection that is
   * closed with unread input is reset, and the client would lose the last responses.
   */
  end(): void {
    const socket = this.#socket;
    this.#deadline.cancel();
    this.#uncork();
    if (socket.destroyed) return;
    socket.off('data', this.#onData);
    socket.on('data', () => {});
    socket.resume();
    socket.end();
    const timer = this.#clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', timer.cancel);
  }

  async #waitForInput(patience: Patience, isSignalAwaited = false): Promise<'input' | 'signal' | 'timeout'> {
    this.#deadline.set(patience.timeoutMs);
    for (;;) {
      if (this.#interruption) throw this.#interruption;
      if (this.#chunks.length > 0) return 'input';
      if (isSignalAwaited && this.#isSignalled) {
        this.#isSignalled = false;
        return 'signal';
      }
      if (this.#socket.destroyed || this.#hasEnded) throw new ClientGone();
      this.#resume();
      await this.#wait();
      if (this.#hasTimedOut) return 'timeout';
    }
  }

  #wait(): Promise<void> {
    this.#hasTimedOut = false;
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  readonly #uncork = (): void => {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#socket.uncork();
  };

  readonly #onWake = (): void => {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  };

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.length;
    const isFull = this.#unreadBytes >= MAX_UNREAD_BYTES || this.#chunks.length >= MAX_UNREAD_CHUNKS;
    if (isFull) {
      this.#isPaused = true;
      this.#socket.pause();
    }
    this.#onWake();
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#onWake();
  };

  readonly #onDeadline = (): void => {
    if (!this.#wake) return;
    this.#hasTimedOut = true;
    this.#onWake();
  };
}

function faultOf({ reason }: Patience): ConnectionFault {
  return new ConnectionFault(reason, 'The client took too long');
}
