/**
 * Fetching attachments (api.md 1.2): once, when the email is accepted, so that what is sent no longer changes, and not
 * too many at a time, for each may hold 25 MiB.
 */
import type { App } from '../app.ts';
import { download } from '../system/download.ts';
import { AppError, invalid } from '../system/errors.ts';

/** api.md 1.2. */
const MOST_REDIRECTS = 3;
const TIMEOUT_MS = 10_000;
/** Of all files of one email together (security.md 2.26). */
export const TOTAL_TIMEOUT_MS = 15_000;
/** Of all requests together. */
export const MOST_DOWNLOADS = 16;

export type Wanted = {
  /** The field to blame, `attachments[1].path`. */
  path: string;
  url: string;
  maxBytes: number;
  /** What is left of `TOTAL_TIMEOUT_MS`. */
  timeoutMs: number;
};

export type Downloads = {
  /** @throws AppError validation_error naming the path; unavailable when too many are running */
  get(wanted: Wanted): Promise<Buffer>;
};

export function createDownloads(app: Pick<App, 'fetch' | 'clock'>): Downloads {
  let running = 0;
  return {
    async get({ path, url, maxBytes, timeoutMs }) {
      if (running >= MOST_DOWNLOADS)
        throw new AppError('unavailable', 'Too many attachments are being fetched', { retryAfterSeconds: 1 });
      running++;
      try {
        const limits = { timeoutMs: Math.min(timeoutMs, TIMEOUT_MS), mostRedirects: MOST_REDIRECTS };
        const result = await download(app, { url, maxBytes, ...limits });
        if (result.kind === 'ok') return result.bytes;
        throw invalid(path, `\`${path}\` could not be fetched: ${result.reason}`);
      } finally {
        running--;
      }
    },
  };
}
