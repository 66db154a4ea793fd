/**
 * Composes messages with large texts into files, from which their deliveries read them: hundreds of them may be on their
 * way to slow peers at the same time, and each can be 12 MB long. A message that goes to many sites is composed once for
 * deliveries that follow each other closely. A file that is lost is composed again, to the same bytes.
 */
import { LRUCache } from 'lru-cache';
import type { ScratchFile } from '../../blobs/scratch.ts';
import type { MessageRow } from '../../db/tables.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import type { Timer } from '../../system/clock.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { errorCode } from '../../system/errors.ts';
import type { SendingApp } from '../sending-app.ts';

/** A message before it is written: its header, and its body as far as it is composed. */
export type Composed = {
  header: Buffer;
  pieces: Iterable<Buffer>;
  /** False when its bytes differ from those that an earlier version of Postrider has composed. */
  isUnchanged: boolean;
};

type LargeMessage = Pick<Composed, 'header' | 'isUnchanged'> & {
  file: ScratchFile;
  /** Hash of the composed body (mail/dkim/body-hash.ts). */
  bodyHash: string;
};

/** A message with large texts, and how to compose it. */
export type Large = Pick<MessageRow, 'id' | 'tenantId'> & {
  /** Size of the texts in bytes. */
  sizeBytes: number;
  compose(): Promise<Composed>;
};

/**
 * Maximum number of messages that are composed at the same time, one of them for one tenant. Each takes about five
 * times the size of its texts in memory, at most 20 MB.
 */
const MAX_COMPOSING = 2;
/** Maximum size of the texts whose files are cached. */
export const MAX_CACHED_BYTES = 512 * 1024 * 1024;
/** Time after which a file is removed, counted from the last delivery that opened it. */
const CACHED_MS = 60_000;

type Cached = { message: Promise<LargeMessage>; timer: Timer | undefined };

export class LargeMessages {
  readonly #limiter = new ConcurrencyLimiter({ maxRunning: MAX_COMPOSING, perFree: 1 });
  readonly #cached: LRUCache<string, Cached>;

  constructor(maxSize = MAX_CACHED_BYTES) {
    this.#cached = new LRUCache<string, Cached>({
      maxSize,
      dispose: ({ message, timer }) => {
        timer?.cancel();
        // A file that cannot be removed is left to the sweep.
        message.then(({ file }) => file.remove()).catch(() => {});
      },
    });
  }

  /** Returns a message that was composed a moment ago, or composes it. */
  open(app: Pick<SendingApp, 'blobs' | 'clock'>, large: Large): Promise<LargeMessage> {
    const { id, sizeBytes } = large;
    const known = this.#cached.get(id);
    if (known) {
      this.#removeLater(app, { id, cached: known });
      return known.message;
    }
    const cached: Cached = { message: this.#write(app, large), timer: undefined };
    this.#cached.set(id, cached, { size: sizeBytes });
    this.#removeLater(app, { id, cached });
    return cached.message;
  }

  /** Yields the composed bytes of a message in order. */
  async *read(app: Pick<SendingApp, 'blobs' | 'clock'>, large: Large): AsyncGenerator<Buffer> {
    let isStarted = false;
    try {
      const { file } = await this.open(app, large);
      for await (const chunk of file.chunks()) {
        isStarted = true;
        yield chunk;
      }
      return;
    } catch (error) {
      if (isStarted || errorCode(error) !== 'ENOENT') throw error;
    }
    // The file was removed meanwhile. This one is nobody else's.
    const { file } = await this.#write(app, large);
    try {
      yield* file.chunks();
    } finally {
      await file.remove();
    }
  }

  #write(app: Pick<SendingApp, 'blobs' | 'clock'>, large: Large): Promise<LargeMessage> {
    return this.#limiter.run(() => write(app, large), { owner: large.tenantId });
  }

  /** Removes the file some time after the message is composed, and a message that could not be composed at once. */
  #removeLater(
    { clock }: Pick<SendingApp, 'blobs' | 'clock'>,
    { id, cached }: { id: string; cached: Cached },
  ): void {
    const remove = () => {
      if (this.#cached.peek(id) === cached) this.#cached.delete(id);
    };
    cached.message.then(() => {
      cached.timer?.cancel();
      cached.timer = clock.after(CACHED_MS, remove);
    }, remove);
  }
}

async function write(
  { blobs }: Pick<SendingApp, 'blobs' | 'clock'>,
  { compose }: Large,
): Promise<LargeMessage> {
  const { header, pieces, isUnchanged } = await compose();
  const hash = createBodyHash();
  function* whole(): Generator<Buffer> {
    yield header;
    for (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  }
  const file = await blobs.writeScratch(whole());
  return { header, isUnchanged, file, bodyHash: hash.digest() };
}
