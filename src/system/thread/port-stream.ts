/** One end of a stream between two threads, as a stream of Node. What is written to it belongs to the other thread from then on. */
import { Duplex } from 'node:stream';
import { type StreamEnd, type StreamOwner, type StreamPort, weightOf } from './streams.ts';

type Callback = (error?: Error | null) => void;

export class PortStream extends Duplex implements StreamOwner {
  readonly #end: StreamEnd;
  readonly #receiveNote: (note: unknown) => void;
  /** Weight of the octets that wait for the reader. */
  #waitingWeight = 0;
  #afterDrain: Callback | undefined;

  /** Opens the stream with this number. `receiveNote` receives the notes of the other end. */
  constructor(port: StreamPort, number: number, receiveNote: (note: unknown) => void) {
    super();
    this.#receiveNote = receiveNote;
    // An error destroys the stream, and its reader learns of that.
    this.on('error', () => {});
    this.#end = port.open(number, this);
  }

  /** Sends a message about the stream to the other end. */
  postNote(note: unknown): void {
    this.#end.note(note);
  }

  onOctets(octets: Buffer): void {
    this.#waitingWeight += weightOf(octets);
    this.push(octets);
    this.#reportTaken();
  }

  onDrained(): void {
    const callback = this.#afterDrain;
    this.#afterDrain = undefined;
    callback?.();
  }

  onNote(note: unknown): void {
    this.#receiveNote(note);
  }

  onEnded(): void {
    this.push(null);
  }

  onClosed(): void {
    this.destroy();
  }

  /** Reads octets and reports them as taken. Octets in the buffer of the stream are not reported, so that many small pieces cannot fill it. */
  override read(sizeBytes?: number): unknown {
    const octets: unknown = super.read(sizeBytes);
    this.#reportTaken();
    return octets;
  }

  override _read(): void {}

  #reportTaken(): void {
    if (this.readableLength > 0 || this.#waitingWeight === 0) return;
    this.#end.taken(this.#waitingWeight);
    this.#waitingWeight = 0;
  }

  override _write(octets: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#send([octets], callback);
  }

  override _writev(writes: { chunk: Buffer }[], callback: Callback): void {
    this.#send(
      writes.map(({ chunk }) => chunk),
      callback,
    );
  }

  override _final(callback: Callback): void {
    this.#end.end();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#end.close();
    callback(error);
  }

  #send(pieces: readonly Buffer[], callback: Callback): void {
    if (this.#end.send(pieces)) callback();
    else this.#afterDrain = callback;
  }
}
