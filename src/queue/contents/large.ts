/**
 * Composes messages with large texts into files, from which their deliveries read them: hundreds of them may be on their
 * way to slow peers at the same time, and each can be 12 MB long. A message that goes to many sites is composed once for
 * deliveries that follow each other closely. A file that is lost is composed again, to the same bytes.
 */
import { LRUCache } from 'lru-cache';
import type { App } from '../../app.ts';
import type { ScratchFile } from '../../blobs/scratch.ts';
import type { MessageRow } from '../../db/tables.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import type { Timer } from '../../system/clock.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { errorCode } from '../../system/errors.ts';

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
 * times the size of its texts in memory, at most 20 MB. Our own limit.
 */
const MAX_COMPOSING = 2;
/** Maximum size of the texts whose files are kept. Our own limit. */
const MAX_KEPT_BYTES = 512 * 1024 * 1024;
/** Time after which a file is removed, counted from the last delivery that opened it. Our own limit. */
const KEPT_MS = 60_000;

type Kept = { message: Promise<LargeMessage>; timer: Timer | undefined };
type LargeApp = Pick<App, 'blobs' | 'clock'>;

export class LargeMessages {
  readonly #limiter = new ConcurrencyLimiter({ maxRunning: MAX_COMPOSING, perFree: 1 });
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_KEPT_BYTES,
    dispose: ({ message, timer }) => {
      timer?.cancel();
      // A file that cannot be removed is left to the sweep.
      message.then(({ file }) => file.remove()).catch(() => {});
    },
  });

  /** Returns a message that was composed a moment ago, or composes it. */
  open(app: LargeApp, large: Large): Promise<LargeMessage> {
    const { id, sizeBytes } = large;
    const known = this.#kept.get(id);
    if (known) {
      this.#removeLater(app, { id, kept: known });
      return known.message;
    }
    const kept: Kept = { message: this.#write(app, large), timer: undefined };
    this.#kept.set(id, kept, { size: sizeBytes });
    this.#removeLater(app, { id, kept });
    return kept.message;
  }

  /** Yields the composed bytes of a message in order. */
  async *read(app: LargeApp, large: Large): AsyncGenerator<Buffer> {
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

  #write(app: LargeApp, large: Large): Promise<LargeMessage> {
    return this.#limiter.run(() => write(app, large), { owner: large.tenantId });
  }

  /** Removes the file some time after the message is composed, and a message that could not be composed at once. */
  #removeLater({ clock }: LargeApp, { id, kept }: { id: string; kept: Kept }): void {
    const remove = () => {
      if (this.#kept.peek(id) === kept) this.#kept.delete(id);
    };
    kept.message.then(() => {
      kept.timer?.cancel();
      kept.timer = clock.after(KEPT_MS, remove);
    }, remove);
  }
}

async function write({ blobs }: LargeApp, { compose }: Large): Promise<LargeMessage> {
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
