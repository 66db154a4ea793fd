/** Rows of messages, for tests that need only some of their columns. */
import type { MessageRow } from '../../src/db/tables.ts';
import { STORED_MESSAGE } from '../../src/queue/contents/stored-message.ts';

type Given = Pick<MessageRow, 'id' | 'tenantId' | 'mode'> & Partial<MessageRow>;

/** Returns the row of a queued message that was accepted at time 0 and has no content, with what is given instead. */
export function messageRow(given: Given): MessageRow {
  return {
    ...STORED_MESSAGE,
    sender: '',
    domainId: null,
    blobId: null,
    headerBytes: 0,
    bodyHash: '',
    datedAt: 0,
    createdAt: 0,
    expiresAt: 0,
    lastEventAt: 0,
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
