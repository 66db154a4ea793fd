/**
 * Fetches attachments once, when the email is accepted, so that later changes of the source have no effect. The number
 * of concurrent downloads is bounded, and shared among tenants. Each download counts towards the budget of request
 * bodies, since it may hold 25 MiB.
 */
import type { App } from '../app.ts';
import type { ApiKeyRow } from '../db/tenant-tables.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { download } from '../system/download.ts';
import { AppError, invalid } from '../system/errors.ts';
import type { ByteBudget } from '../system/guards/byte-budget.ts';

/** Maximum number of redirects, and time limit for one file. */
const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 10_000;
/** Time limit for all files of one email together, in milliseconds. */
export const TOTAL_TIMEOUT_MS = 15_000;
/**
 * Maximum number of concurrent downloads. A tenant whose files come from a host that hangs uses up only its own share.
 */
export const MAX_DOWNLOADS = 16;
/** Delay that a caller is asked to wait when too many downloads run. A download ends within a few seconds. */
const RETRY_AFTER_SECONDS = 2;

/** Limits for the files of one email or of one batch. Each fetched file reduces `leftBytes`. */
export type Allowance = {
  /** Time on the monotonic clock at which all files must be fetched, in milliseconds. */
  readonly until: number;
  leftBytes: number;
};

type Wanted = {
  tenantId: ApiKeyRow['tenantId'];
  /** The field that names the file, for example `attachments[1].path`. Errors name it. */
  path: string;
  url: string;
  maxBytes: number;
  /** Time left for this file, in milliseconds. */
  timeoutMs: number;
};

/** A fetched file. The caller disposes of it when the bytes are no longer in memory, which releases their budget. */
export type FetchedFile = Disposable & { bytes: Buffer };

export type Downloads = {
  /**
   * Fetches a file.
   * @throws AppError validation_error naming the path; unavailable when too many downloads run or use too much memory
   */
  get(wanted: Wanted): Promise<FetchedFile>;
};

/** Returns the downloader of attachments. All requests share its limits. */
export function createDownloads(
  app: Pick<App, 'fetch' | 'clock' | 'metrics'> & { bodies: ByteBudget },
): Downloads {
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_DOWNLOADS, perFree: 1, maxWaiting: 0 });
  const busy = (): AppError => {
    app.metrics.shedRequests.inc({ reason: 'downloads' });
    return new AppError('unavailable', 'Too many attachments are being fetched', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
  return {
    async get({ tenantId, path, url, maxBytes, timeoutMs }) {
      const reservation = app.bodies.open(tenantId);
      const limits = { timeoutMs: Math.min(timeoutMs, TIMEOUT_MS), maxRedirects: MAX_REDIRECTS };
      const fetching = () => download(app, { url, maxBytes, reservation, ...limits });
      const result = await limiter.tryRun(fetching, { owner: tenantId });
      switch (result?.kind) {
        case 'ok':
          return { bytes: result.bytes, [Symbol.dispose]: () => reservation.release() };
        case 'refused':
          throw invalid(path, `\`${path}\` could not be fetched: ${result.reason}`);
        case 'budget-exhausted':
        case undefined:
          throw busy();
      }
    },
  };
}
