/**
 * The connection to a client: lines and bytes in, replies out, and a deadline for each wait. Replies are kept back until
 * the server waits for input that it does not have yet, so that the replies to a group of commands leave in one write
 * (RFC 2920 section 3.2).
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../../system/clock.ts';
import { Deadline } from '../../deadline.ts';
import { CR, LF } from '../../octets.ts';
import { ClientGone, ConnectionFault } from './fault.ts';

/** Maximum length of a command line without its CRLF. RFC 5321 section 4.5.3.1.4 asks for 512; extensions add to it. */
const MAX_LINE_BYTES = 4_096;
/** Input that is held while nothing reads it. Beyond it the socket is not read, which stops the client. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Number of pieces of that input. A client that sends byte by byte makes many small ones, which have a cost of their own. */
const MAX_UNREAD_CHUNKS = 64;
/** Replies that are held back, in characters. Beyond it they are sent before more commands are run. */
const MAX_HELD_CHARACTERS = 16 * 1024;
/** Time for which a client may read the last replies of a connection that has ended. */
const LINGER_MS = 5_000;

export class Wire {
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #deadline: Deadline;
  /** Input that was not read yet, in order. */
  readonly #chunks: Buffer[] = [];
  #unreadBytes = 0;
  /** A line that was read and given back. */
  #line: string | undefined;
  #held = '';
  #isFlushing = false;
  #hasEnded = false;
  #isPaused = false;
  #hasTimedOut = false;
  #wake: (() => void) | undefined;
  #interruption: ConnectionFault | undefined;

  constructor(clock: Clock, socket: Socket) {
    this.#clock = clock;
    this.#socket = socket;
    this.#deadline = new Deadline(clock, this.#onDeadline);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('drain', this.#onWake);
    if (socket.destroyed) this.#hasEnded = true;
  }

  /** True when input has arrived that was not read yet, even half a line. */
  get hasInput(): boolean {
    return this.#unreadBytes > 0;
  }

  /** Queues replies, which must be complete lines. */
  send(replies: string): void {
    this.#held += replies;
  }

  /**
   * Returns the next command line without its CRLF, of at most `maxBytes`.
   * @throws ConnectionFault when the line has not ended after `timeoutMs`, when it is malformed, or when `interrupt` was
   * called; ClientGone
   */
  async readLine(timeoutMs: number, maxBytes = MAX_LINE_BYTES): Promise<string> {
    let isDeadlineSet = false;
    for (;;) {
      if (this.#interruption) throw this.#interruption;
      const line = this.#takeLine(maxBytes);
      if (line !== undefined && this.#held.length < MAX_HELD_CHARACTERS) return line;
      if (line !== undefined) this.#line = line;
      if (!isDeadlineSet) this.#deadline.set(timeoutMs);
      isDeadlineSet = true;
      await this.#wait(line === undefined ? 'idle' : 'output');
    }
  }

  /** Gives back a line, which is the next one that is read. */
  unreadLine(line: string): void {
    this.#line = line;
  }

  /**
   * Returns the next bytes, at most `maxBytes`. They belong to the caller.
   * @throws ConnectionFault after `timeoutMs`; ClientGone
   */
  async readBytes(timeoutMs: number, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
    if (this.#chunks.length === 0) this.#deadline.set(timeoutMs);
    for (;;) {
      const chunk = this.#takeChunk();
      if (chunk) {
        if (chunk.length > maxBytes) this.unreadBytes(chunk.subarray(maxBytes));
        return chunk.subarray(0, maxBytes);
      }
      await this.#wait('slow_data');
    }
  }

  /** Gives back bytes, which are the next ones that are read. */
  unreadBytes(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.unshift(bytes);
    this.#unreadBytes += bytes.length;
  }

  /** Ends the wait for a command. No further command is read. */
  interrupt(fault: ConnectionFault): void {
    this.#interruption = fault;
    this.#onWake();
  }

  /**
   * Sends the replies that are held back at the end of this turn of the event loop. Those to several clients then leave one right
   * after the other. Each write can wake a client that takes a core from the daemon, and cost twice as much between two commands.
   */
  flush(): void {
    if (this.#held === '' || this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(this.#onTurnEnd);
  }

  /** Hands the socket over, with its unread input, and sends the replies that are held back. */
  detach(): Socket {
    const socket = this.#socket;
    this.#deadline.cancel();
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    socket.off('drain', this.#onWake);
    socket.pause();
    for (const chunk of this.#chunks.reverse()) socket.unshift(chunk);
    this.#flushNow();
    return socket;
  }

  /**
   * Sends the replies that are held back and closes the connection. What the client sends meanwhile is dropped: a
   * connection that is closed with unread input is reset, and the client would lose the last replies.
   */
  end(): void {
    const socket = this.#socket;
    this.#deadline.cancel();
    this.#flushNow();
    if (socket.destroyed) return;
    socket.off('data', this.#onData);
    socket.on('data', () => {});
    socket.resume();
    socket.end();
    const timer = this.#clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', timer.cancel);
  }

  get #isFull(): boolean {
    return this.#unreadBytes >= MAX_UNREAD_BYTES || this.#chunks.length >= MAX_UNREAD_CHUNKS;
  }

  #takeLine(maxBytes: number): string | undefined {
    const given = this.#line;
    if (given !== undefined) {
      this.#line = undefined;
      return given;
    }
    const bytes = this.#takeChunk();
    if (!bytes) return undefined;
    const end = bytes.indexOf(LF);
    if (end > 0 && end <= maxBytes + 1 && bytes[end - 1] === CR) {
      this.unreadBytes(bytes.subarray(end + 1));
      return bytes.toString('utf8', 0, end - 1);
    }
    // A line that ends with a bare LF might be read as two by another server, and as one by this one.
    if (end >= 0 && end <= maxBytes + 1)
      throw lineFault('bare_line_feed', 'A command must end with CRLF, not with a bare LF');
    if (bytes.length > maxBytes + 1)
      throw lineFault('line_length', `A command must have at most ${maxBytes} octets`);
    const more = this.#takeChunk();
    this.unreadBytes(more ? Buffer.concat([bytes, more]) : bytes);
    return more && this.#takeLine(maxBytes);
  }

  #takeChunk(): Buffer | undefined {
    const chunk = this.#chunks.shift();
    if (chunk) this.#unreadBytes -= chunk.length;
    return chunk;
  }

  /** Waits for input, or only until the client has taken the replies that are on their way. */
  async #wait(purpose: 'idle' | 'slow_data' | 'output'): Promise<void> {
    if (purpose === 'output') this.#flushNow();
    else this.flush();
    // A client that does not read its replies gets no more of them.
    const isBlocked = this.#socket.writableNeedDrain;
    if (purpose === 'output' && !isBlocked) return;
    if (this.#socket.destroyed || (this.#hasEnded && !isBlocked)) throw new ClientGone();
    if (!isBlocked) this.#resume();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (!this.#hasTimedOut) return;
    throw new ConnectionFault(purpose === 'slow_data' ? purpose : 'idle', {
      code: 421,
      status: '4.4.2',
      text: 'The client took too long',
    });
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  readonly #onTurnEnd = (): void => {
    this.#isFlushing = false;
    this.#flushNow();
  };

  #flushNow(): void {
    if (this.#held === '') return;
    // Replies are ASCII.
    this.#socket.write(this.#held, 'latin1');
    this.#held = '';
  }

  readonly #onWake = (): void => {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  };

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#isFull && !this.#wake) {
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

function lineFault(reason: 'bare_line_feed' | 'line_length', text: string): ConnectionFault {
  return new ConnectionFault(reason, { code: 500, status: '5.5.2', text });
}
