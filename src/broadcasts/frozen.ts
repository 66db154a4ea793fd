/** The frozen parts of a broadcast. From its start on, changes of templates, topics and segments no longer matter to it. */
import type { Filter } from '../audiences/segments/filter.ts';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow, TopicRow } from '../db/marketing-tables.ts';
import type { MessageRow } from '../db/tables.ts';
import type { HeaderField } from '../emails/request/headers.ts';

export type Frozen = Pick<BroadcastRow, 'audienceId' | 'fromHeader' | 'subject' | 'replyTo' | 'topicId'> &
  Pick<BroadcastRow, 'templateId'> &
  Pick<MessageRow, 'domainId'> & {
    /**
     * Default of the topic, which decides about contacts without a choice also after the topic was deleted; null without a topic.
     * Runs that earlier versions started do not have it.
     */
    defaultOptIn?: TopicRow['defaultOptIn'] | null;
    /** Domain of the address for complaints. Runs that earlier versions started do not have it. */
    complaintHost?: MessageRow['complaintHost'];
    /** Rules of the segment; null for a whole audience. */
    filter: Filter | null;
    /** Header fields that are the same for every reader. */
    headers: readonly HeaderField[];
    /** Placeholders of the texts and the subject, with the number of times that each occurs. */
    uses: Readonly<Record<string, number>>;
    /** Number of characters of the texts. */
    characters: number;
  };

/**
 * Returns what a run has frozen.
 * @throws Error for a run that has not started
 */
export function frozenOf({ broadcastId, frozen }: Pick<BroadcastRunRow, 'broadcastId' | 'frozen'>): Frozen {
  if (frozen === null) throw new Error(`broadcast ${broadcastId} has not started`);
  return JSON.parse(frozen) as Frozen;
}
