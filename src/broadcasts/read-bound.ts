/** Reads what an approval of a broadcast binds to, with the template, the topic and the segment that it names. */
import { filterOf } from '../audiences/segments/scan.ts';
import { findSegment } from '../audiences/segments/store.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findTemplate } from '../templates/store.ts';
import { findTopic } from '../topics/store.ts';
import { hashContent } from './bound.ts';

/** Reads what a broadcast names, and returns the hash of its content and audience. */
export async function readContentHash(tx: Tx, broadcast: BroadcastRow): Promise<string> {
  const { tenantId, templateId, topicId, segmentId } = broadcast;
  const template = templateId === null ? undefined : await findTemplate(tx, tenantId, templateId);
  const topic = topicId === null ? undefined : await findTopic(tx, tenantId, topicId);
  const segment = segmentId === null ? undefined : await findSegment(tx, tenantId, segmentId);
  return hashContent(broadcast, { template, topic, filter: segment ? filterOf(segment) : null });
}
