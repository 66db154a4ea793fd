/** Describes the parts of a broadcast that an approval binds to: its content, its audience and its time. */
import { hashOf } from '../approvals/hash.ts';
import type { Filter } from '../audiences/segments/filter.ts';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow, TemplateRow, TopicRow } from '../db/marketing-tables.ts';

type Named = {
  template: Pick<TemplateRow, 'html' | 'text'> | undefined;
  /** Readers see its name and description, and its default decides who gets the broadcast without a choice. */
  topic: Pick<TopicRow, 'name' | 'description' | 'defaultOptIn'> | undefined;
  /** Rules of the segment; null for a whole audience. */
  filter: Filter | null;
};

/** Returns the hash of the content and the audience, with the template, the topic and the segment as they are now. */
export function hashContent(broadcast: BroadcastRow, { template, topic, filter }: Named): string {
  const { id, fromHeader, subject, replyTo, html, text, topicId, audienceId, segmentId, templateId } =
    broadcast;
  const own = [id, fromHeader, subject, replyTo, html, text, topicId];
  const named = [templateId, template?.html, template?.text, audienceId, segmentId, filter];
  // Earlier versions hashed no topic. A broadcast without one keeps its hash, so that an approval that an earlier version stored still holds.
  const ofTopic = topic ? [[topic.name, topic.description, topic.defaultOptIn]] : [];
  return hashOf([own, ...named, ...ofTopic]);
}

type Time = Pick<BroadcastRunRow, 'pace'> & {
  /** Time at which the broadcast is to be sent; null means as soon as it is approved. */
  sendAt: number | null;
};

/** Returns the hash that an approval stores. */
export function bindTo(contentHash: string, { pace, sendAt }: Time): string {
  return hashOf(['broadcast', contentHash, pace, sendAt]);
}
