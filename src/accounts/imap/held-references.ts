/** Bounds the memory of the references by which THREAD groups messages. Strangers decide how many each message has. */
import type { ThreadRow } from '../../mail/imap/thread-row.ts';
import { MAX_REFERENCES } from '../../mail/message/sort-keys.ts';

/**
 * Memory of the references of all messages of one command, in bytes: an eighth of the heap of the thread (`HEAP_MEGABYTES` of
 * account/part.ts), which is enough for ten references of each of 30,000 messages.
 */
const MAX_REFERENCES_BYTES = 64 * 1024 * 1024;
/** Memory of a reference beside its characters: entries of lists and maps, and a node. */
const BYTES_PER_REFERENCE = 128;

/**
 * The references of messages, within the limit of memory. When all together are too many, each message keeps the newest ones, as if its
 * References field had been truncated by a mail program.
 */
export class HeldReferences {
  readonly #rows: ThreadRow[] = [];
  #bytes = 0;
  #maxPerMessage = MAX_REFERENCES;
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_REFERENCES_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Sets the references of a message, which are JSON. */
  add(row: ThreadRow, json: string): void {
    row.thread.references = JSON.parse(json) as string[];
    this.#rows.push(row);
    this.#bytes += this.#trim(row);
    while (this.#bytes > this.#maxBytes && this.#maxPerMessage > 1) {
      this.#maxPerMessage = Math.ceil(this.#maxPerMessage / 2);
      this.#bytes = 0;
      for (const one of this.#rows) this.#bytes += this.#trim(one);
    }
  }

  /** Drops the oldest references of a message that has too many, and returns the memory of the others. */
  #trim({ thread }: ThreadRow): number {
    if (thread.references.length > this.#maxPerMessage)
      thread.references = thread.references.slice(-this.#maxPerMessage);
    return thread.references.reduce((bytes, id) => bytes + BYTES_PER_REFERENCE + id.length, 0);
  }
}
