/**
 * The connection of a server to a client: octets in, octets out, and a deadline for each wait. What is sent in one turn of the event
 * loop leaves in one write. A client that does not read what is sent gets no more of it, and its commands wait. Each protocol finds its
 * lines and commands in the octets by itself.
 */

import type { Duplex } from 'node:stream';
import type { Clock } from '../../system/clock.ts';
import { ClientGone } from './client-gone.ts';
import { Deadline } from './deadline.ts';
import { discardInput } from './discard-input.ts';

/** Size of the input that is held while nothing reads it. Beyond it the socket is not read, which stops the client. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Number of pieces of that input. A client that sends byte by byte makes many small ones, which have a cost of their own. */
const MAX_UNREAD_CHUNKS = 64;
/** Time for which a client may read the last responses of a connection that has ended. */
const LINGER_MS = 5_000;

/** Limit of a wait, and the reason for which the connection ends when it has passed. */
export type WaitLimit<Reason extends string> = {
  timeoutMs: number;
  reason: Reason;
  /** False for a wait that goes on after `interrupt`, unless that is forced. */
  isInterruptible?: false;
};

/** Settings that all connections of a protocol share. */
export type WireOptions<Reason extends string> = {
  /** Number of octets that may wait to be sent to a client before its next command is read. */
  maxUnsentBytes: number;
  /** Returns the error with which a wait ends that has taken too long. */
  timeoutFault(reason: Reason): Error;
};

/** Octets that a client has sent and nobody has read. `hasEnded` is true when the client sends no others. */
export type Unread = { octets: Buffer[]; hasEnded: boolean };

export class Wire<Reason extends string> {
  readonly #clock: Clock;
  readonly #socket: Duplex;
  readonly #options: WireOptions<Reason>;
  readonly #deadline: Deadline;
  /** Input that was not read yet, in order. */
  readonly #chunks: Buffer[] = [];
  #unreadBytes = 0;
  #receivedBytes = 0;
  #isCorked = false;
  #isUncorkDue = false;
  #hasEnded = false;
  #isDetached = false;
  #isPaused = false;
  #isAwaitingInput = false;
  #hasTimedOut = false;
  #isSignalled = false;
  #wake: (() => void) | undefined;
  #interruption: Error | undefined;
  #isForced = false;

  constructor(clock: Clock, socket: Duplex, options: WireOptions<Reason>) {
    this.#clock = clock;
    this.#socket = socket;
    this.#options = options;
    this.#deadline = new Deadline(clock, this.#onDeadline);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('drain', this.#onWake);
    if (socket.destroyed) this.#hasEnded = true;
  }

  /** True when input has arrived that was not read yet. */
  get hasInput(): boolean {
    return this.#unreadBytes > 0;
  }

  /** Number of octets that have arrived. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** True when `maxUnsentBytes` wait to be sent, so that `drain` must come before the next command. */
  get isFull(): boolean {
    return this.#socket.writableLength >= this.#options.maxUnsentBytes;
  }

  /** Queues octets, which leave at the end of this turn of the event loop and belong to the wire from now on. A text is sent as UTF-8. */
  send(octets: Buffer | string): void {
    this.hold(octets);
    this.flush();
  }

  /** Queues octets, which leave with what is sent next, or when the server waits for the client. They belong to the wire from now on. */
  hold(octets: Buffer | string): void {
    if (!this.#isCorked) this.#socket.cork();
    this.#isCorked = true;
    this.#socket.write(octets);
  }

  /**
   * Sends what is held at the end of this turn of the event loop. Responses to several clients then leave one right after the
   * other: a write between two commands can wake a client that takes a core from the daemon, and costs twice as much.
   */
  flush(): void {
    if (!this.#isCorked || this.#isUncorkDue) return;
    this.#isUncorkDue = true;
    setImmediate(this.#onTurnEnd);
  }

  /**
   * Resolves when the client has read enough that the wire is no longer full.
   * @throws the faults of a timeout and of a forced `interrupt`; ClientGone
   */
  async drain(waitLimit: WaitLimit<Reason>): Promise<void> {
    this.#throwIfEnded();
    if (!this.isFull) return;
    this.#uncork();
    this.#deadline.set(waitLimit.timeoutMs);
    while (this.#socket.writableNeedDrain && this.isFull) {
      await this.#wait();
      this.#throwIfEnded();
      if (this.#hasTimedOut) throw this.#options.timeoutFault(waitLimit.reason);
    }
  }

  /**
   * Returns the next octets, at most `maxBytes`, which belong to the caller.
   * @throws the faults of a timeout and of `interrupt`; ClientGone
   */
  async read(waitLimit: WaitLimit<Reason>, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
    this.#throwIfInterrupted(waitLimit);
    if (this.#chunks.length === 0) await this.#waitForInput(waitLimit);
    const chunk = this.take();
    if (!chunk) throw this.#options.timeoutFault(waitLimit.reason);
    if (chunk.length <= maxBytes) return chunk;
    this.unread(chunk.subarray(maxBytes));
    return chunk.subarray(0, maxBytes);
  }

  /** Returns the next octets when some have arrived; they belong to the caller. */
  take(): Buffer | undefined {
    const chunk = this.#chunks.shift();
    if (chunk) this.#unreadBytes -= chunk.length;
    return chunk;
  }

  /** Gives back octets, which are the next ones that are read. */
  unread(octets: Buffer): void {
    if (octets.length === 0) return;
    this.#chunks.unshift(octets);
    this.#unreadBytes += octets.length;
  }

  /**
   * Resolves when input has come, `signal` was called since the last time, or the time has passed.
   * @throws the fault of `interrupt`; ClientGone
   */
  waitForEvent(timeoutMs: number): Promise<'input' | 'signal' | 'timeout'> {
    return this.#waitForInput({ timeoutMs }, true);
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

  /** Ends the wait for a command with this error, and any wait for the client when it is forced. No further command is read. */
  interrupt(fault: Error, { isForced = false } = {}): void {
    this.#interruption = fault;
    this.#isForced ||= isForced;
    this.#onWake();
  }

  /** Throws the fault of `interrupt`, once it was called. */
  throwIfInterrupted(): void {
    if (this.#interruption) throw this.#interruption;
  }

  /** Leaves the socket to another owner, which reads the unread input from it, after what was sent. The socket has an `error` listener. */
  detach(): void {
    for (const chunk of this.takeOver().octets.reverse()) this.#socket.unshift(chunk);
  }

  /** Leaves the socket to another owner, after what was sent, and returns the input that the socket no longer has. */
  takeOver(): Unread {
    const socket = this.#socket;
    this.#isDetached = true;
    this.#deadline.cancel();
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    socket.off('drain', this.#onWake);
    socket.pause();
    this.#uncork();
    return { octets: this.#chunks.splice(0), hasEnded: this.#hasEnded };
  }

  /**
   * Closes the connection in this turn of the event loop, after a last text as far as it can be sent at once. A socket that has another owner is
   * closed without the text.
   */
  cut(text: string): void {
    if (!this.#isDetached) {
      this.hold(text);
      this.#uncork();
      this.#socket.end();
    }
    setImmediate(() => this.#socket.destroy());
  }

  /**
   * Closes the connection after what was sent, unless the socket has another owner. What the client sends meanwhile is dropped: a connection
   * that is closed with unread input is reset, and the client would lose the last responses.
   */
  end(): void {
    const socket = this.#socket;
    if (this.#isDetached) return;
    this.#deadline.cancel();
    this.#uncork();
    if (socket.destroyed) return;
    socket.off('data', this.#onData);
    discardInput(socket, this.#unreadBytes);
    socket.end();
    const timer = this.#clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', timer.cancel);
  }

  /** Resolves with the event that has ended the wait; only a caller that awaits signals receives them. */
  async #waitForInput(
    { timeoutMs, isInterruptible }: Pick<WaitLimit<Reason>, 'timeoutMs' | 'isInterruptible'>,
    isSignalAwaited = false,
  ): Promise<'input' | 'signal' | 'timeout'> {
    this.#deadline.set(timeoutMs);
    for (;;) {
      this.#throwIfInterrupted({ isInterruptible });
      if (this.#chunks.length > 0) return 'input';
      if (isSignalAwaited && this.#isSignalled) {
        this.#isSignalled = false;
        return 'signal';
      }
      if (this.#socket.destroyed || this.#hasEnded) throw new ClientGone();
      this.flush();
      this.#resume();
      this.#isAwaitingInput = true;
      await this.#wait();
      if (this.#hasTimedOut) return 'timeout';
    }
  }

  #throwIfInterrupted({ isInterruptible }: { isInterruptible?: false | undefined }): void {
    if (isInterruptible !== false || this.#isForced) this.throwIfInterrupted();
  }

  #throwIfEnded(): void {
    if (this.#socket.destroyed) throw new ClientGone();
    if (this.#isForced) this.throwIfInterrupted();
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

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#socket.uncork();
  }

  readonly #onTurnEnd = (): void => {
    this.#isUncorkDue = false;
    this.#uncork();
  };

  readonly #onWake = (): void => {
    const wake = this.#wake;
    this.#wake = undefined;
    this.#isAwaitingInput = false;
    wake?.();
  };

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.length;
    this.#receivedBytes += chunk.length;
    const isFull = this.#unreadBytes >= MAX_UNREAD_BYTES || this.#chunks.length >= MAX_UNREAD_CHUNKS;
    // A reader that waits takes the chunk at once. A wait for the client to read leaves it, however often it wakes up.
    if (isFull && !this.#isAwaitingInput) {
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
