/**
 * Generates the text of an HTML body (specification 4.1: generated when it is omitted). A small hostile document can
 * keep the layout library busy for half a minute, so it runs in threads that are terminated after a time limit. A
 * document that is too large for it, or whose layout was terminated, is stripped of its tags here, in linear time and
 * in small slices. There is always a result; it is empty when the HTML contains no words.
 */
import { KillableThreads, type ThreadOutcome } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import { stripHtml } from './html-text-strip.ts';

export type HtmlText = {
  convert(html: string): Promise<string>;
  /** Ends the threads. Documents that are still being laid out are stripped instead. */
  close(): Promise<void>;
};

/** Maximum length of a document that is laid out; larger ones are stripped. Our own limit. */
export const MAX_LAID_OUT_CHARACTERS = 1024 * 1024;

/** Number of threads: two, so that one hostile document does not delay all others. */
const THREADS = 2;
/** Maximum time of one layout. A newsletter of 100 KB takes about 30 ms. */
export const JOB_TIMEOUT_MS = 2_000;
/**
 * Maximum time that a document waits for a thread. It is longer than a thread takes to start; afterwards the document
 * is stripped.
 */
const WAIT_TIMEOUT_MS = 5_000;
/**
 * Maximum number of characters of all documents that wait or are being laid out: the amount that two threads finish
 * within `WAIT_TIMEOUT_MS`.
 */
export const MAX_CHARACTERS = 32 * MAX_LAID_OUT_CHARACTERS;
/** Maximum number of waiting documents. It bounds small ones, which take a millisecond or two each. */
const MAX_WAITING = 5_000;
/** Idle time after which a thread ends. A thread keeps the memory of its largest document, up to the heap limit. */
const IDLE_TIMEOUT_MS = 60_000;
/**
 * Time below which a layout counts as quick. A newsletter takes less and leaves about 30 MB. Starting another thread
 * takes about 150 ms, which the next email would wait.
 */
const QUICK_JOB_MS = 100;
/** Heap limit of a thread. The largest document made of the shortest tags needs 96 MB. */
const HEAP_MEGABYTES = 128;

/** Returns the converter, with its own threads. */
export function createHtmlText(system: Pick<System, 'clock' | 'log'>): HtmlText {
  const threads = new KillableThreads<string, string>(system.clock, {
    module: moduleBeside(import.meta.url, 'html-text-thread'),
    threads: THREADS,
    jobTimeoutMs: JOB_TIMEOUT_MS,
    waitTimeoutMs: WAIT_TIMEOUT_MS,
    maxWaiting: MAX_WAITING,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    quickJobMs: QUICK_JOB_MS,
    heapMegabytes: HEAP_MEGABYTES,
  });
  const warn = createWarning(system);
  let characters = 0;
  const layOut = async (html: string): Promise<ThreadOutcome<string>> => {
    if (characters + html.length > MAX_CHARACTERS)
      return { kind: 'failed', reason: 'crowded', message: `${characters} characters are waiting` };
    characters += html.length;
    try {
      return await threads.run(html);
    } finally {
      characters -= html.length;
    }
  };
  return {
    async convert(html) {
      if (html.length > MAX_LAID_OUT_CHARACTERS) return stripHtml(html);
      const outcome = await layOut(html);
      if (outcome.kind === 'done') return outcome.result;
      warn({ reason: outcome.reason, cause: outcome.message, characters: html.length });
      return stripHtml(html);
    },
    close: () => threads.close(),
  };
}

/** Minimum time between two warnings, so that many hostile documents do not flood the log. */
const WARNING_PERIOD_MS = 60_000;

type Stripped = { reason: string; cause: string; characters: number };

/**
 * Returns the function that logs warnings: the first at once, and later ones summed up once a minute, with the last
 * of them as an example.
 */
function createWarning({ clock, log }: Pick<System, 'clock' | 'log'>): (stripped: Stripped) => void {
  let isQuiet = false;
  let count = 0;
  let last: Stripped | undefined;
  const warn = (): void => {
    isQuiet = count > 0;
    if (!isQuiet) return;
    log.warn({ ...last, count }, 'HTML was stripped, not laid out');
    count = 0;
    clock.after(WARNING_PERIOD_MS, warn);
  };
  return (stripped) => {
    count++;
    last = stripped;
    if (!isQuiet) warn();
  };
}
