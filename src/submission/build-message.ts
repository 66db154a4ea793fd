/** Builds the row of a message that a client has handed over, which is sent as it came. */
import type { App } from '../app.ts';
import type { MessageRow } from '../db/tables.ts';
import { maxAgeMs } from '../emails/request/schedule.ts';
import { newMessage } from '../queue/new-message.ts';
import { needsUtf8, type Submission } from './user.ts';

type Sender = Pick<MessageRow, 'tenantId' | 'mode' | 'domainId'>;

/** Returns the row of a message whose bounces come to a return path of this installation, and which no mailbox has written. */
export function buildMessage(
  { config, clock }: Pick<App, 'config' | 'clock'>,
  submission: Submission,
  { tenantId, mode, domainId }: Sender,
): MessageRow {
  const { id, blob, headerBytes, bodyHash, header, envelope } = submission;
  const now = clock.now();
  return newMessage({
    id,
    tenantId,
    mode,
    sender: header.from.address,
    domainId,
    blobId: blob.id,
    headerBytes,
    bodyHash,
    now,
    datedAt: Math.max(envelope.releaseAt ?? now, now),
    maxAgeMs: maxAgeMs(config, 'transactional'),
    requireTls: envelope.requireTls ? 1 : 0,
    utf8: needsUtf8(submission),
  });
}
