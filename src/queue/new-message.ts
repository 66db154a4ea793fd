/** Builds the rows of messages that are queued. */
import type { MessageRow } from '../db/tables.ts';

type Given = Pick<MessageRow, 'id' | 'tenantId' | 'mode' | 'sender' | 'utf8'> &
  Partial<MessageRow> & {
    now: number;
    /** Time after its date during which the message is tried. */
    maxAgeMs: number;
  };

/**
 * Returns the row of a message. By default it is transactional, its bytes are sent as they are stored, it leaves at once, and its
 * bounces come to a return path of this installation.
 */
export function newMessage({ now, maxAgeMs, datedAt = now, ...given }: Given): MessageRow {
  return {
    kind: 'transactional',
    topicId: null,
    status: 'queued',
    domainId: null,
    blobId: null,
    headerBytes: 0,
    bodyHash: '',
    signature: null,
    // The write that stores the content knows its id.
    contentId: null,
    composer: null,
    fields: null,
    mergeValues: null,
    broadcastId: null,
    contactId: null,
    complaintHost: null,
    returnPath: null,
    requireTls: 0,
    traceFields: null,
    mailboxId: null,
    dsn: null,
    datedAt,
    createdAt: now,
    expiresAt: datedAt + maxAgeMs,
    lastEventAt: now,
    ...given,
  };
}
