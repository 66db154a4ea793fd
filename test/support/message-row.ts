/** Rows of messages, for tests that need only some of their columns. */
import type { MessageRow } from '../../src/db/tables.ts';

type Given = Pick<MessageRow, 'id' | 'tenantId' | 'mode'> & Partial<MessageRow>;

/** Returns the row of a queued message that was accepted at time 0 and has no content, with what is given instead. */
export function messageRow(given: Given): MessageRow {
  return {
    kind: 'transactional',
    topicId: null,
    status: 'queued',
    sender: '',
    domainId: null,
    blobId: null,
    headerBytes: 0,
    bodyHash: '',
    datedAt: 0,
    signature: null,
    createdAt: 0,
    expiresAt: 0,
    lastEventAt: 0,
    contentId: null,
    composer: null,
    fields: null,
    mergeValues: null,
    broadcastId: null,
    contactId: null,
    complaintHost: null,
    returnPath: null,
    requireTls: 0,
    mailboxId: null,
    dsn: null,
    utf8: 0,
    traceFields: null,
    ...given,
  };
}
