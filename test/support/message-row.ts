/** Rows of messages, for tests that need only some of their columns. */
import type { MessageRow } from '../../src/db/tables.ts';
import { newMessage } from '../../src/queue/new-message.ts';

type Given = Pick<MessageRow, 'id' | 'tenantId' | 'mode'> & Partial<MessageRow>;

/** Returns the row of a queued message that was accepted at time 0 and has no content, with what is given instead. */
export function messageRow(given: Given): MessageRow {
  return newMessage({ sender: '', utf8: 0, now: 0, maxAgeMs: 0, ...given });
}
