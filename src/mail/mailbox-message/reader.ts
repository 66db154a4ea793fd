/**
 * Reads what mailboxes store of messages (mailbox-message.ts). Strangers write the messages, so large ones are read in threads that are
 * terminated after a time limit. Owners take turns. A message whose thread was terminated is opaque: its header is read here, in
 * little time. A small message is read here altogether, because the work is linear in its octets and takes less time than the way to
 * a thread and back.
 */

import { errorMessage } from '../../system/errors.ts';
import type { JobOptions } from '../../system/killable-threads/options.ts';
import { KillableThreads } from '../../system/killable-threads.ts';
import { nextSlice } from '../../system/slices.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import { MessagesWaitError } from '../message/parse/parser.ts';
import { type MailboxMessage, type ReadingOptions, readMailboxMessage, readOpaqueMessage } from './read.ts';

export type MailboxMessageReader = {
  /**
   * Returns what mailboxes store of a message. `owner` is the account, whose messages take turns with those of others.
   * @throws MessagesWaitError when the threads are busy
   */
  read(octets: Uint8Array, owner: string, options?: ReadingOptions): Promise<MailboxMessage>;
  /** Ends the threads. */
  close(): Promise<void>;
};

/**
 * Maximum size of a message that is read here. An ordinary one takes 0.3 ms, and the most hostile one that is known takes 40 ms on a slow
 * machine.
 */
export const SMALL_MESSAGE_BYTES = 8 * 1024;
/** Time for which small messages are read before other work of this thread runs. One command of a client can bring hundreds. */
const MAX_BUSY_MS = 2;
/** Maximum time of one message. One with 25 MB of files takes 0.1 s, and the slowest charset 0.5 s for each MB of text. */
export const JOB_TIMEOUT_MS = 5_000;
/** Maximum time that a message waits for a thread: some messages of other owners that are all terminated. */
const WAIT_TIMEOUT_MS = 20_000;
/** Returns the reader, with its own threads. */
export function createMailboxMessageReader({
  clock,
  log,
}: Pick<System, 'clock' | 'log'>): MailboxMessageReader {
  const threads = new KillableThreads<{ octets: Uint8Array; options: ReadingOptions }, MailboxMessage>(
    clock,
    {
      module: moduleBeside(import.meta.url, 'mime-thread'),
      // Number of threads: two, so that one hostile message does not delay all others.
      threads: 2,
      // Maximum number of waiting messages of one owner. Their callers bound the bytes.
      maxWaiting: 256,
      // Time below which a message counts as quick. One with some megabytes of files takes less.
      quickJobMs: 150,
      // Heap limit of a thread. The text of a message is at most some megabytes; its octets are not in the heap.
      heapMegabytes: 192,
    },
  );
  const readAsOpaque = (octets: Uint8Array, failure: { reason: string; cause: unknown }) => {
    log.warn({ ...failure, sizeBytes: octets.length }, 'a message for a mailbox could not be taken apart');
    return readOpaqueMessage(octets);
  };
  const readHere = (octets: Uint8Array) =>
    readMailboxMessage(octets).catch((error: unknown) =>
      readAsOpaque(octets, { reason: 'threw', cause: errorMessage(error) }),
    );
  let busyMs = 0;
  const readInSlices = async (octets: Uint8Array): Promise<MailboxMessage> => {
    const since = clock.elapsed();
    const message = await readHere(octets);
    busyMs += clock.elapsed() - since;
    if (busyMs > MAX_BUSY_MS) {
      busyMs = 0;
      await nextSlice();
    }
    return message;
  };
  return {
    async read(octets, owner, options = {}) {
      if (octets.length <= SMALL_MESSAGE_BYTES) return await readInSlices(octets);
      // The copy moves to the thread. The memory of the octets may be shared with others.
      const moved = new Uint8Array(octets);
      const job: JobOptions = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
      const outcome = await threads.run({ octets: moved, options }, { ...job, transfer: [moved.buffer] });
      if (outcome.kind === 'done') return outcome.result;
      const { reason, message: cause } = outcome;
      if (reason === 'crowded' || reason === 'closed') throw new MessagesWaitError(cause);
      return readAsOpaque(octets, { reason, cause });
    },
    close: () => threads.close(),
  };
}
