/**
 * Streams of octets between two threads, many over one port, because each port costs every wait for messages a little. Each direction of
 * a stream is bounded: its sender waits while the receiver has not taken what is on the way.
 */
import type { MessagePort } from 'node:worker_threads';

/** Maximum number of octets of a stream that are on the way in one direction. */
const MAX_AHEAD_BYTES = 256 * 1024;
/** Number of octets that a receiver takes before it reports them, because each message costs both threads. */
const REPORTED_BYTES = 64 * 1024;
/**
 * Size that a message counts with at least, because it takes memory of its own in both threads. A client that sends octet by octet makes
 * one message of each.
 */
const MIN_WEIGHT_BYTES = 1024;
/** Number of octets from which their memory moves to the other thread. The copy of fewer costs less than the move. */
const MOVED_BYTES = 16 * 1024;

type Message =
  | { kind: 'octets'; octets: Buffer<ArrayBuffer> }
  | { kind: 'taken'; sizeBytes: number }
  | { kind: 'note'; note: unknown }
  | { kind: 'end' }
  | { kind: 'close'; isLost?: true };

const LOST = { kind: 'close', isLost: true } as const;

/** The owner of one end of a stream. */
export type StreamOwner = {
  /** Receives octets, in memory of their own. The owner calls `taken` with their weight once it can hold others. */
  onOctets(octets: Buffer): void;
  /** Is called when `send` may go on, because the other end has taken enough. */
  onDrained(): void;
  /** Receives a message about the stream, in order with its octets. */
  onNote(note: unknown): void;
  /** Is called after the last octets of the other end. */
  onEnded(): void;
  /** Is called when the other end has closed the stream. Nothing follows. `isLost` is true when its thread has ended or does not know the stream. */
  onClosed(isLost: boolean): void;
};

/** One side of a port, with the streams of its thread by their numbers. */
export class StreamPort {
  readonly #ends = new Map<number, StreamEnd>();
  readonly #channel: Channel;
  /** False when the other thread has closed the port. */
  isOpen = true;

  constructor(port: MessagePort) {
    this.#channel = {
      post: (stream, message, transfer = []) => port.postMessage({ ...message, stream }, transfer),
      forget: (stream) => void this.#ends.delete(stream),
    };
    port.on('message', ({ stream, ...message }: Message & { stream: number }) => {
      const end = this.#ends.get(stream);
      if (end) end.receive(message as Message);
      // The stream was closed before the other thread knew of it.
      else if (message.kind !== 'close') this.#channel.post(stream, { kind: 'close', isLost: true });
    });
    port.on('close', () => {
      this.isOpen = false;
      for (const end of [...this.#ends.values()]) end.receive(LOST);
    });
  }

  /** Returns this end of the stream with this number, on which both threads have agreed. */
  open(stream: number, owner: StreamOwner): StreamEnd {
    const end = new StreamEnd(stream, owner, this.#channel);
    this.#ends.set(stream, end);
    if (!this.isOpen) queueMicrotask(() => end.receive(LOST));
    return end;
  }
}

type Channel = {
  post(stream: number, message: Message, transfer?: ArrayBuffer[]): void;
  forget(stream: number): void;
};

/** One end of a stream. Once it is closed, nothing that its owner sends has an effect. */
export class StreamEnd {
  readonly #number: number;
  readonly #owner: StreamOwner;
  readonly #channel: Channel;
  #isClosed = false;
  /** Weight of the octets that the other end has not reported as taken. */
  #aheadBytes = 0;
  /** Weight of the octets that were taken here and not reported. */
  #takenBytes = 0;

  constructor(number: number, owner: StreamOwner, channel: Channel) {
    this.#number = number;
    this.#owner = owner;
    this.#channel = channel;
  }

  /**
   * Sends octets, which belong to the other thread from now on: long pieces that nothing else shares move there. Returns false when the sender
   * is to wait until it is `drained`.
   */
  send(pieces: readonly Buffer[]): boolean {
    let small: Buffer[] = [];
    for (const piece of pieces) {
      if (!isMovable(piece)) small.push(piece);
      else {
        this.#sendJoined(small);
        small = [];
        this.#sendOctets(piece);
      }
    }
    this.#sendJoined(small);
    return !this.#isFull;
  }

  /** Counts octets that the owner has taken, by their weight. */
  taken(weight: number): void {
    this.#takenBytes += weight;
    if (this.#takenBytes < REPORTED_BYTES) return;
    this.#post({ kind: 'taken', sizeBytes: this.#takenBytes });
    this.#takenBytes = 0;
  }

  /** Sends a message about the stream, which is plain data. */
  note(note: unknown): void {
    this.#post({ kind: 'note', note });
  }

  /** Says that no more octets follow. */
  end(): void {
    this.#post({ kind: 'end' });
  }

  /** Closes the stream in both directions. What the other end has sent is dropped. */
  close(): void {
    this.#post({ kind: 'close' });
    this.#forget();
  }

  receive(message: Message): void {
    switch (message.kind) {
      case 'octets':
        this.#owner.onOctets(Buffer.from(message.octets.buffer));
        break;
      case 'taken': {
        const wasFull = this.#isFull;
        this.#aheadBytes -= message.sizeBytes;
        if (wasFull && !this.#isFull) this.#owner.onDrained();
        break;
      }
      case 'note':
        this.#owner.onNote(message.note);
        break;
      case 'end':
        this.#owner.onEnded();
        break;
      case 'close':
        this.#forget();
        this.#owner.onClosed(message.isLost === true);
    }
  }

  get #isFull(): boolean {
    return this.#aheadBytes >= MAX_AHEAD_BYTES;
  }

  #sendJoined(pieces: readonly Buffer[]): void {
    if (pieces.length > 0) this.#sendOctets(join(pieces));
  }

  #sendOctets(octets: Buffer<ArrayBuffer>): void {
    this.#aheadBytes += weightOf(octets);
    this.#post({ kind: 'octets', octets }, octets.length < MOVED_BYTES ? [] : [octets.buffer]);
  }

  #post(message: Message, transfer?: ArrayBuffer[]): void {
    if (!this.#isClosed) this.#channel.post(this.#number, message, transfer);
  }

  #forget(): void {
    this.#isClosed = true;
    this.#channel.forget(this.#number);
  }
}

/** Returns the number of octets that a message with these octets counts as. */
export function weightOf(octets: Buffer): number {
  return Math.max(octets.length, MIN_WEIGHT_BYTES);
}

/** Returns true for many octets that are alone in their memory. */
function isMovable(octets: Buffer): octets is Buffer<ArrayBuffer> {
  const { buffer, length } = octets;
  return length >= MOVED_BYTES && buffer instanceof ArrayBuffer && buffer.byteLength === length;
}

/** Returns all octets, in memory of their own. */
function join(pieces: readonly Buffer[]): Buffer<ArrayBuffer> {
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) offset += piece.copy(joined, offset);
  return joined;
}
