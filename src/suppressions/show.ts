/** The record of a suppression as the API and the events show it. Apart from the schemas, which no database thread needs. */
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { isoTime } from '../system/clock.ts';

export function showSuppression({ id, email, reason, sourceEmailId, diagnostic, createdAt }: SuppressionRow) {
  return { id, email, reason, sourceEmailId, diagnostic, createdAt: isoTime(createdAt) };
}
