/**
 * The text of an HTML body (specification 4.1: generated when it is omitted). The library that does it well can be kept
 * busy for half a minute by a small hostile document, so it works in threads that are ended when they take too long; what
 * is too large for it, or was ended, is stripped of its tags here, in linear time and a little at a time. There is always
 * an answer, which is empty when the HTML says nothing in words.
 */
import { KillableThreads, type ThreadOutcome } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { stripHtml } from './html-text-strip.ts';

export type HtmlText = {
  convert(html: string): Promise<string>;
  /** What is still being converted is stripped instead. */
  close(): Promise<void>;
};

/** Larger documents are stripped (security.md 2.17). */
export const MAX_LAID_OUT_CHARACTERS = 1024 * 1024;

/** Two, so that one hostile document does not hold up all others. */
const THREADS = 2;
/** security.md 2.17. A newsletter of 100 KB takes some 30 ms. */
export const JOB_TIMEOUT_MS = 2_000;
/** Longer than threads take to start; after it the text may as well be plain. */
export const WAIT_TIMEOUT_MS = 5_000;
/** Of documents that wait or are being laid out, together: what two threads do in `WAIT_TIMEOUT_MS`. */
export const MAX_CHARACTERS = 32 * MAX_LAID_OUT_CHARACTERS;
/** The same of small ones, which take a millisecond or two. */
const MAX_WAITING = 5_000;
/** A thread that has worked keeps its memory: after a hostile document, all it may have. */
const IDLE_TIMEOUT_MS = 60_000;
/** A newsletter takes less, and leaves some 30 MB. To start anew takes some 150 ms, which the next email would wait. */
const QUICK_JOB_MS = 100;
/** The largest document made of the shortest tags was laid out in 96. */
const HEAP_MEGABYTES = 128;

export function createHtmlText(system: Pick<System, 'clock' | 'log'>): HtmlText {
  const threads = new KillableThreads<string, string>(system.clock, {
    module: threadModule(),
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

/** A flood of hostile documents is no flood of lines. */
const WARNING_PERIOD_MS = 60_000;

type Stripped = { reason: string; cause: string; characters: number };

/** The first is told at once; of those of the minute after it their number, and the last of them. */
function createWarning({ clock, log }: Pick<System, 'clock' | 'log'>): (stripped: Stripped) => void {
  let isQuiet = false;
  let count = 0;
  let last: Stripped | undefined;
  const tell = (): void => {
    isQuiet = count > 0;
    if (!isQuiet) return;
    log.warn({ ...last, count }, 'HTML was stripped, not laid out');
    count = 0;
    clock.after(WARNING_PERIOD_MS, tell);
  };
  return (stripped) => {
    count++;
    last = stripped;
    if (!isQuiet) tell();
  };
}

/** Beside this module, and compiled or not like it. */
function threadModule(): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return new URL(`./html-text-thread${extension}`, import.meta.url);
}
