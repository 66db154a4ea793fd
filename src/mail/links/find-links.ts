/**
 * Finds the links of HTML in threads that are terminated after a time limit, because the document may be large and comes from a
 * tenant.
 */
import { KillableThreads } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import type { HtmlLinks } from './html-links.ts';

export type LinkFinder = {
  /**
   * Returns the links of a document, or undefined when they cannot be found: the document is too large, or the threads are
   * busy. `owner` is the tenant of the document; tenants are served round-robin.
   */
  find(html: string, owner: string): Promise<HtmlLinks | undefined>;
  /** Ends the threads. No links are found afterwards. */
  close(): Promise<void>;
};

/** Maximum length of a document, about the largest template. */
const MAX_SEARCHED_CHARACTERS = 1024 * 1024;

/** Maximum time of one document, fifty times what a large one takes. */
const JOB_TIMEOUT_MS = 2_000;
/** Maximum time that a document waits for the thread, which takes a second to start. */
const WAIT_TIMEOUT_MS = 5_000;

/** Returns the finder, with its own thread. */
export function createLinkFinder({ clock, log }: Pick<System, 'clock' | 'log'>): LinkFinder {
  const threads = new KillableThreads<string, HtmlLinks>(clock, {
    module: moduleBeside(import.meta.url, 'find-links-thread'),
    // One thread, because a document of 1 MiB takes 30 ms.
    threads: 1,
    // Maximum number of waiting documents of one tenant. They are bounded by the bodies of the requests that hold them.
    maxWaiting: 1_000,
    // Time below which a document counts as quick. One of 1 MiB takes less.
    quickJobMs: 100,
    // Heap limit of the thread in MB. A document of 1 MiB needs 8 MB.
    heapMegabytes: 64,
  });
  return {
    async find(html, owner) {
      if (html.length > MAX_SEARCHED_CHARACTERS) return undefined;
      const job = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
      const outcome = await threads.run(html, job);
      if (outcome.kind === 'done') return outcome.result;
      const { reason, message } = outcome;
      log.warn(
        { reason, cause: message, characters: html.length },
        'the links of an HTML document were not found',
      );
      return undefined;
    },
    close: () => threads.close(),
  };
}
