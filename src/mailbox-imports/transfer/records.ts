/**
 * Messages on their way between the daemon and a command that imports or exports mail. Each is a line of JSON with its size and what
 * else is known about it, and then its bytes.
 */
import { LF } from '../../mail/octets.ts';
import { AppError } from '../../system/errors.ts';

/** Media type of a body with such messages. */
export const RECORDS_TYPE = 'application/vnd.postrider.messages';
/** Maximum size of a message that is imported or exported, in bytes. Servers rarely take more than 50 MB. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;
/** Maximum length of the line of a message: a name of a folder, and some hundred keywords. */
const MAX_HEAD_BYTES = 64 * 1024;

type Head = { sizeBytes: number };

type TransferRecord<About> = { about: About & Head; content: Buffer };

/** Returns the bytes of a message, the line first. */
export function writeRecord(about: object, content: Uint8Array): Buffer[] {
  const head = JSON.stringify({ ...about, sizeBytes: content.length });
  return [Buffer.from(`${head}\n`), Buffer.from(content.buffer, content.byteOffset, content.byteLength)];
}

/**
 * Yields the messages of a body, each completely in memory. The other side is trusted to have the same version.
 * @throws AppError validation_error when the body ends within a message, or a message is too large
 */
export async function* readRecords<About>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<TransferRecord<About>> {
  const bytes = new ByteReader(chunks);
  for (let line = await bytes.readLine(); line !== undefined; line = await bytes.readLine()) {
    const about = JSON.parse(line) as About & Head;
    if (about.sizeBytes > MAX_RECORD_BYTES)
      throw new AppError('validation_error', `A message has more than ${MAX_RECORD_BYTES} bytes`);
    yield { about, content: await bytes.read(about.sizeBytes) };
  }
}

/** Reads lines and numbers of bytes from a stream. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns the next line without its LF; undefined at the end of the stream. */
  async readLine(): Promise<string | undefined> {
    for (let end = this.#rest.indexOf(LF); ; end = this.#rest.indexOf(LF)) {
      if (end >= 0) {
        const line = this.#rest.toString('utf8', 0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      if (this.#rest.length > MAX_HEAD_BYTES) throw cut();
      const { value, done } = await this.#chunks.next();
      if (done && this.#rest.length === 0) return undefined;
      if (done) throw cut();
      this.#rest = Buffer.concat([this.#rest, value]);
    }
  }

  async read(sizeBytes: number): Promise<Buffer> {
    const content = Buffer.allocUnsafeSlow(sizeBytes);
    let at = 0;
    while (at < sizeBytes) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done) throw cut();
        this.#rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      }
      const taken = this.#rest.copy(content, at, 0, sizeBytes - at);
      this.#rest = this.#rest.subarray(taken);
      at += taken;
    }
    return content;
  }
}

function cut(): AppError {
  return new AppError('validation_error', 'The body ends within a message');
}
