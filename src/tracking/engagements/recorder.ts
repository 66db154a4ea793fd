/**
 * Collects opens and clicks and records them in groups, so that the pages answer the reader without waiting, and many requests at
 * once occupy one write at a time.
 */
import type { App } from '../../app.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { Shares } from '../../system/shares.ts';
import { type EngagementRequest, recordEngagements } from './record.ts';

type TenantId = TenantRow['id'];

export type Recorder = {
  /**
   * Records a request about mail of a tenant soon. It never throws; a request beyond the limits is counted and dropped.
   */
  record(tenantId: TenantId, request: EngagementRequest): void;
  /** Resolves when everything that was collected is recorded or has failed. */
  flush(): Promise<void>;
};

/** Maximum number of requests in one write, which then takes about 10 ms. */
const MAX_PER_WRITE = 200;
/** Maximum number of requests that wait, those of a second at the highest rate that was measured. */
const MAX_WAITING = 5_000;
/**
 * A tenant has at most three quarters of the waiting requests, so that many requests for its mail cost no other tenant an open or
 * a click.
 */
const WAITING_PER_FREE = 3;

/** Returns the recorder of an installation. */
export function createRecorder({ db, log, metrics }: Pick<App, 'db' | 'log' | 'metrics'>): Recorder {
  const lost = metrics.counter('engagements_lost_total', 'Opens and clicks that could not be recorded.', []);
  const shares = new Shares<TenantId>(MAX_WAITING, { perFree: WAITING_PER_FREE });
  let waiting: { tenantId: TenantId; request: EngagementRequest }[] = [];
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const next = waiting.slice(0, MAX_PER_WRITE);
      waiting = waiting.slice(MAX_PER_WRITE);
      for (const { tenantId } of next) shares.release(tenantId);
      const requests = next.map(({ request }) => request);
      try {
        await db.commit(recordEngagements, requests);
      } catch (error) {
        // A full disk is the usual reason. The reader has got the page, and the mail goes on.
        lost.inc({}, requests.length);
        log.warn({ err: error, requests: requests.length }, 'opens and clicks were not recorded');
      }
    }
    writing = undefined;
  }

  return {
    record(tenantId, request) {
      if (!shares.take(tenantId)) return void lost.inc({});
      waiting.push({ tenantId, request });
      writing ??= writeAll();
    },
    flush: async () => writing,
  };
}
