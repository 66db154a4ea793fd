/**
 * DEFLATE on a connection (RFC 4978), as a stream on top of its socket.
 *
 * A compressor takes 256 KiB, and most connections wait for something. So each write has a compressor of its own, which ends with a sync
 * flush, and the next one continues where it stopped: it can refer to what was sent last, which is kept.
 */

import { Duplex, type Writable } from 'node:stream';
import { constants, createInflateRaw, deflateRaw, type InflateRaw } from 'node:zlib';
import { discardInput } from '../connection/discard-input.ts';
import { unpooled } from '../connection/pieces.ts';
import type { Unread } from '../connection/wire.ts';

/** Level of compression. RFC 4978 section 4 expects 25 to 40 % of the size from the cheapest one. */
const LEVEL = constants.Z_BEST_SPEED;
/**
 * Number of the last octets that the next compressor knows. Responses resemble those just before them, and the cost of a small response
 * grows with this number. Our own choice.
 */
const HISTORY_OCTETS = 8 * 1024;
/** Size of the buffer that a decompressor fills, and holds for all of its time. Our own choice. */
const INFLATED_OCTETS = 4 * 1024;

/** Distance to which compressed data can refer back (RFC 1951 section 2). */
const WINDOW_OCTETS = 32 * 1024;
/** End of what a sync flush writes: an empty block, after which the data goes on with a whole octet (RFC 1951 section 3.2.4). */
const SYNC_FLUSH = Buffer.of(0, 0, 0xff, 0xff);
const NOTHING = Buffer.alloc(0);

type Chunk = { chunk: Buffer };
type Callback = (error?: Error | null) => void;

export class CompressedStream extends Duplex {
  readonly #socket: Duplex;
  readonly #onMalformed: () => void;
  #inflater: InflateRaw | undefined;
  /** Inflated octets that the next decompressor knows. */
  #inflated: Buffer = NOTHING;
  /** End of the compressed data that has come. */
  #received: Buffer = NOTHING;
  /** Octets that the next compressor knows, as they were before their compression. */
  #history: Buffer = NOTHING;

  /** Begins with what was received already. `onMalformed` is called when the client has sent something that is not DEFLATE. Nothing more is read then. */
  constructor(socket: Duplex, { octets, hasEnded }: Unread, onMalformed: () => void) {
    super();
    this.#socket = socket;
    this.#onMalformed = onMalformed;
    socket.on('data', this.#onReceived);
    socket.on('end', this.#onEnd);
    socket.on('close', () => this.destroy());
    // An error destroys the stream, and its reader learns of that.
    this.on('error', () => {});
    socket.resume();
    for (const received of octets) this.#onReceived(received);
    if (hasEnded) this.#onEnd();
  }

  /**
   * Ends the decompressor of a client that waits, which takes 45 KiB. A new one continues: it knows the commands that the client has sent,
   * which are few. Nothing happens where the data does not end with a sync flush.
   */
  rest(): void {
    const inflater = this.#inflater;
    if (!inflater || inflater.writableLength > 0 || inflater.readableLength > 0) return;
    if (!this.#received.equals(SYNC_FLUSH)) return;
    this.#inflater = undefined;
    inflater.destroy();
    this.#inflated = unpooled(this.#inflated);
  }

  /** True while the decompressor is there. */
  get hasInflater(): boolean {
    return this.#inflater !== undefined;
  }

  /** Octets that expand to very many are inflated only as fast as they are read. */
  override _read(): void {
    this.#inflater?.resume();
  }

  override _writev(chunks: Chunk[], callback: Callback): void {
    const octets = Buffer.concat(chunks.map(({ chunk }) => chunk));
    const options = { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH, dictionary: this.#history };
    deflateRaw(octets, options, (error, compressed) => {
      if (error) return callback(error);
      const last = Buffer.concat([this.#history, octets.subarray(-HISTORY_OCTETS)]);
      this.#history = unpooled(last.subarray(-HISTORY_OCTETS));
      writeWhenReady(this.#socket, compressed, callback);
    });
  }

  override _final(callback: Callback): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#inflater?.destroy();
    this.#socket.destroy();
    callback(error);
  }

  readonly #onReceived = (octets: Buffer): void => {
    this.#inflater ??= this.#createInflater();
    const last = Buffer.concat([this.#received, octets.subarray(-SYNC_FLUSH.length)]);
    this.#received = unpooled(last.subarray(-SYNC_FLUSH.length));
    if (this.#inflater.write(octets)) return;
    this.#socket.pause();
    this.#inflater.once('drain', () => this.#socket.resume());
  };

  readonly #onEnd = (): void => {
    if (this.#inflater) this.#inflater.end();
    else this.push(null);
  };

  #createInflater(): InflateRaw {
    const inflater = createInflateRaw({
      chunkSize: INFLATED_OCTETS,
      dictionary: this.#inflated,
      // The data of a connection that closes has no end of its own.
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    inflater.on('data', (octets: Buffer) => {
      this.#inflated = Buffer.concat([this.#inflated, octets]).subarray(-WINDOW_OCTETS);
      if (!this.push(octets)) inflater.pause();
    });
    inflater.on('end', () => this.push(null));
    inflater.on('error', () => {
      discardInput(this.#socket.off('data', this.#onReceived));
      this.#onMalformed();
    });
    return inflater;
  }
}

/** Calls back when the next octets can be written. */
function writeWhenReady(socket: Writable, octets: Buffer, callback: Callback): void {
  if (socket.write(octets)) callback();
  else socket.once('drain', callback);
}
