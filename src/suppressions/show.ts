/**
 * The form of a suppression in the API and in events. It is separate from the schemas, which database threads do not
 * load.
 */
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { isoTime } from '../system/clock.ts';

/** Returns a suppression in the form that the API and the events show. */
export function showSuppression({ id, email, reason, sourceEmailId, diagnostic, createdAt }: SuppressionRow) {
  return { id, email, reason, sourceEmailId, diagnostic, createdAt: isoTime(createdAt) };
}
