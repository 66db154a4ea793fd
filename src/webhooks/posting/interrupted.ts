/** When work is done again that the end of the daemon, or of its thread, has interrupted. */
import { type RawBuilder, sql } from 'kysely';
import { INTERRUPTED_DELAYS_MS } from './schedule.ts';

const delays = [...INTERRUPTED_DELAYS_MS].map(
  ([attempts, delayMs]) => sql`WHEN ${sql.lit(attempts)} THEN ${sql.lit(delayMs)}`,
);

/** Delay of a row in milliseconds, by its column `attempts`, which counts the interrupted attempt. */
export const interruptedDelayMs: RawBuilder<number> = sql`CASE attempts ${sql.join(delays, sql` `)} ELSE 0 END`;
