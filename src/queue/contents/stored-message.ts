/** Mail that is sent as its bytes are stored: what clients submit, what is forwarded, and what the installation itself writes. */
import type { MessageRow } from '../../db/tables.ts';

/** Columns that say how a message is composed, and those of broadcasts, as such a message has them when it is queued. */
export const STORED_MESSAGE = {
  kind: 'transactional',
  topicId: null,
  status: 'queued',
  signature: null,
  contentId: null,
  composer: null,
  fields: null,
  mergeValues: null,
  broadcastId: null,
  contactId: null,
} as const satisfies Partial<MessageRow>;
