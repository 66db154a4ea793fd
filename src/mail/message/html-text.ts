/**
 * Generates the text of an HTML body (specification 4.1: generated when it is omitted). A small hostile document can
 * keep the layout library busy for half a minute, so it runs in threads that are terminated after a time limit. A
 * document that is too large for it, or whose layout was terminated, is stripped of its tags here, in linear time and
 * in small slices. There is always a result; it is empty when the HTML contains no words.
 *
 * A text need not be stored: its origin says how to generate it again from the same HTML. Texts of the last moments are
 * remembered, because most emails are sent and read soon after they are accepted.
 */
import { hash } from 'node:crypto';
import { AppError } from '../../system/errors.ts';
import { createByteBudget } from '../../system/guards/byte-budget.ts';
import type { JobOptions } from '../../system/killable-threads/options.ts';
import type { ThreadOutcome } from '../../system/killable-threads/serve.ts';
import { KillableThreads } from '../../system/killable-threads.ts';
import { SharedCache } from '../../system/shared-cache.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import { stripHtml } from './html-text-strip.ts';

/** The way in which a text was generated from its HTML, and what is needed to recognise the text. */
export type TextOrigin = {
  method: 'layout' | 'strip';
  /** Size of the text in UTF-8. */
  bytes: number;
  /** The first 128 bits of the SHA-256 hash of the text, in base64url. */
  hash: string;
};

export type GeneratedText = { text: string; origin: TextOrigin };

/** A generated text that is not stored. `owner` is the tenant of the document; tenants are served round-robin. */
type Restoring = {
  origin: TextOrigin;
  owner: string;
  /** Maximum time to wait for a thread, in milliseconds. */
  waitTimeoutMs?: number;
};

export type HtmlText = {
  convert(html: string, owner: string): Promise<GeneratedText>;
  /**
   * Generates a text again, by the method of its origin. The result has another origin when a new version of the
   * library lays out the HTML in another way.
   * @throws AppError unavailable when the threads are busy or the layout takes too long
   */
  restore(html: string, restoring: Restoring): Promise<GeneratedText>;
  /** Ends the threads. Documents that are still being laid out are stripped instead. */
  close(): Promise<void>;
};

/** Maximum length of a document that is laid out; larger ones are stripped. */
export const MAX_LAID_OUT_CHARACTERS = 1024 * 1024;

/**
 * Time that a document waits before the second thread starts, in milliseconds. A thread takes about 20 MB, and as long to start.
 * One thread serves a steady load of newsletters; only a document that takes long, or a burst, needs another.
 */
export const GROW_AFTER_MS = 150;
/** Maximum time of one layout. A newsletter of 100 KB takes about 30 ms. */
export const JOB_TIMEOUT_MS = 2_000;
/**
 * Maximum time of one layout of a text that was generated before. It is longer than that of the first layout, so that a
 * busy machine does not fail where an idle one succeeded.
 */
export const RESTORE_TIMEOUT_MS = 5 * JOB_TIMEOUT_MS;
/**
 * Maximum time that a document waits for a thread. It is longer than a thread takes to start; afterwards the document
 * is stripped.
 */
const WAIT_TIMEOUT_MS = 5_000;
/**
 * Maximum number of characters of all documents of one tenant that wait or are being laid out for the first time: the
 * amount that two threads finish within `WAIT_TIMEOUT_MS`. All tenants together have twice as many, and documents that
 * are generated again are bounded by the deliveries and responses that hold them.
 */
export const MAX_CHARACTERS = 32 * MAX_LAID_OUT_CHARACTERS;
/** Size of the texts that are remembered: those of some thousand emails. */
const MAX_REMEMBERED_BYTES = 8 * 1024 * 1024;
const HASH_CHARACTERS = 22;
const RETRY_AFTER_SECONDS = 5;

/** Returns the converter, with its own threads. */
export function createHtmlText(system: Pick<System, 'clock' | 'log'>): HtmlText {
  const threads = new KillableThreads<string, string>(system.clock, {
    module: moduleBeside(import.meta.url, 'html-text-thread'),
    // Number of threads: two, so that one hostile document does not delay all others.
    threads: 2,
    growAfterMs: GROW_AFTER_MS,
    // Maximum number of waiting documents of one tenant. It bounds small ones, which take a millisecond or two each.
    maxWaiting: 5_000,
    // Time below which a layout counts as quick. A newsletter takes less and leaves about 30 MB. Starting another thread takes
    // about 150 ms, which the next email would wait.
    quickJobMs: 100,
    // Heap limit of a thread. The largest document made of the shortest tags needs 96 MB.
    heapMegabytes: 128,
  });
  const warn = createWarning(system);
  const layOut = createLayout(threads);
  const strip = async (html: string, owner: string): Promise<GeneratedText> =>
    remember(await stripHtml(html), 'strip', owner);
  const stripInstead = (
    html: string,
    owner: string,
    { reason, message }: Failure,
  ): Promise<GeneratedText> => {
    warn({ reason, cause: message, characters: html.length });
    return strip(html, owner);
  };
  const remembered = new SharedCache<string>(MAX_REMEMBERED_BYTES);
  const remember = (text: string, method: TextOrigin['method'], owner: string): GeneratedText => {
    const origin = { method, bytes: Buffer.byteLength(text), hash: hashOf(text) };
    remembered.set(owner, origin.hash, { value: text, bytes: 2 * text.length });
    return { text, origin };
  };
  return {
    async convert(html, owner) {
      if (html.length > MAX_LAID_OUT_CHARACTERS) return strip(html, owner);
      const outcome = await layOut(html, owner);
      if (outcome.kind === 'done') return remember(outcome.result, 'layout', owner);
      return stripInstead(html, owner, outcome);
    },
    async restore(html, { origin, owner, waitTimeoutMs = WAIT_TIMEOUT_MS }) {
      const text = remembered.get(owner, origin.hash);
      if (text !== undefined) return { text, origin };
      if (origin.method === 'strip') return strip(html, owner);
      const outcome = await threads.run(html, { owner, timeoutMs: RESTORE_TIMEOUT_MS, waitTimeoutMs });
      if (outcome.kind === 'done') return remember(outcome.result, 'layout', owner);
      // A library that has succeeded with this document fails for ever only in another version.
      if (outcome.reason === 'threw') return stripInstead(html, owner, outcome);
      throw new AppError('unavailable', 'The text cannot be generated at the moment', {
        cause: `${outcome.reason}: ${outcome.message}`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    },
    close: () => threads.close(),
  };
}

type Failure = Extract<ThreadOutcome<string>, { kind: 'failed' }>;
type LayOut = (html: string, owner: string) => Promise<ThreadOutcome<string>>;

const FIRST_LAYOUT: Omit<JobOptions, 'owner'> = { timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };

/** Returns the function that lays out a document for the first time, within the limits of its tenant. */
function createLayout(threads: KillableThreads<string, string>): LayOut {
  const budget = createByteBudget({ largeBytes: 2 * MAX_CHARACTERS, smallBytes: 0, share: 1 / 2 });
  return async (html, owner) => {
    const characters = budget.open(owner);
    if (!characters.take(html.length))
      return { kind: 'failed', reason: 'crowded', message: `${budget.usedBytes} characters are waiting` };
    try {
      return await threads.run(html, { owner, ...FIRST_LAYOUT });
    } finally {
      characters.release();
    }
  };
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, HASH_CHARACTERS);
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
