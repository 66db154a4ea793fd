/** Describes the parts of a broadcast that an approval binds to: its content, its audience and its time. */
import { hashOf } from '../approvals/hash.ts';
import type { Filter } from '../audiences/segments/filter.ts';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow, TemplateRow } from '../db/marketing-tables.ts';

type Named = {
  template: Pick<TemplateRow, 'html' | 'text'> | undefined;
  /** Rules of the segment; null for a whole audience. */
  filter: Filter | null;
};

/** Returns the hash of the content and the audience, with the template and the segment as they are now. */
export function hashContent(broadcast: BroadcastRow, { template, filter }: Named): string {
  const { id, fromHeader, subject, replyTo, html, text, topicId, audienceId, segmentId, templateId } =
    broadcast;
  const own = [id, fromHeader, subject, replyTo, html, text, topicId];
  return hashOf([own, templateId, template?.html, template?.text, audienceId, segmentId, filter]);
}

type Time = Pick<BroadcastRunRow, 'pace'> & {
  /** Time at which the broadcast is to be sent; null means as soon as it is approved. */
  sendAt: number | null;
};

/** Returns the hash that an approval stores. */
export function bindTo(contentHash: string, { pace, sendAt }: Time): string {
  return hashOf(['broadcast', contentHash, pace, sendAt]);
}
