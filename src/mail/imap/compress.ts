/**
 * DEFLATE on a connection (RFC 4978), as a stream on top of its socket.
 *
 * A compressor takes 256 KiB, and most connections wait for something. So each write has a compressor of its own, which ends with a sync
 * flush, and the next one continues where it stopped: it can refer to what was sent last, which is kept.
 */
import { Duplex, type Writable } from 'node:stream';
import { constants, createInflateRaw, deflateRaw, type InflateRaw } from 'node:zlib';
import { unpooled } from '../unpooled.ts';

/** Level of compression. RFC 4978 section 4 expects 25 to 40 % of the size from the cheapest one. */
const LEVEL = constants.Z_BEST_SPEED;
/**
 * Number of the last octets that the next compressor knows. Responses resemble those just before them, and the cost of a small response
 * grows with this number. Our own choice.
 */
const HISTORY_OCTETS = 8 * 1024;
/** Size of the buffer that a decompressor fills, and holds for all of its time. Our own choice. */
const INFLATED_OCTETS = 4 * 1024;

type Chunk = { chunk: Buffer };
type Callback = (error?: Error | null) => void;

export class CompressedStream extends Duplex {
  readonly #socket: Duplex;
  readonly #inflater: InflateRaw;
  #history: Buffer = Buffer.alloc(0);

  /** `onMalformed` is called when the client has sent something that is not DEFLATE. Nothing more is read then. */
  constructor(socket: Duplex, onMalformed: () => void) {
    super();
    this.#socket = socket;
    // The data of a connection that closes has no end of its own.
    this.#inflater = createInflateRaw({ chunkSize: INFLATED_OCTETS, finishFlush: constants.Z_SYNC_FLUSH });
    this.#inflater.on('data', this.#onInflated);
    this.#inflater.on('end', () => this.push(null));
    this.#inflater.on('error', () => {
      socket.resume();
      onMalformed();
    });
    socket.on('close', () => this.destroy());
    socket.pipe(this.#inflater);
  }

  /** Octets that expand to very many are inflated only as fast as they are read. */
  override _read(): void {
    this.#inflater.resume();
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
    this.#inflater.destroy();
    this.#socket.destroy();
    callback(error);
  }

  readonly #onInflated = (octets: Buffer): void => {
    if (!this.push(octets)) this.#inflater.pause();
  };
}

/** Calls back when the next octets can be written. */
function writeWhenReady(socket: Writable, octets: Buffer, callback: Callback): void {
  if (socket.write(octets)) callback();
  else socket.once('drain', callback);
}
