/** Builds the rows of mail that this installation itself writes: reports, and notifications about mail that it forwarded. */
import { isAscii } from 'node:buffer';
import type { App } from '../../app.ts';
import type { BlobRow, MessageRow } from '../../db/tables.ts';
import { maxAgeMs } from '../../emails/request/schedule.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import { newMessage } from '../../queue/new-message.ts';
import type { NewRecipient } from '../../queue/store.ts';
import { INSTALLATION_TENANT } from '../../tenants/installation.ts';

/** Columns of a message without a sender among the tenants. */
export const OF_INSTALLATION = { tenantId: INSTALLATION_TENANT, mode: 'live' } as const;

export type OwnMail = { blob: BlobRow; message: MessageRow; recipients: readonly NewRecipient[] };

type Composed = Pick<MessageRow, 'id'> & {
  bytes: Buffer;
  /** Size of the header with the empty line after it. */
  headerBytes: number;
  /** Addresses, all of which the header names. */
  to: readonly string[];
  /** Tenant whose mailbox, or whose redirect, the mail is about; by default none. */
  scheduledFor?: string | undefined;
} & Partial<Pick<MessageRow, 'returnPath' | 'requireTls'>>;

/** Returns the rows of a composed message, which is dated and signed when it is sent. By default its bounces come to a return path. */
export async function buildOwnMail(
  { blobs, clock, config }: App,
  { id, bytes, headerBytes, to, scheduledFor, returnPath = null, requireTls = 0 }: Composed,
): Promise<OwnMail> {
  const hash = createBodyHash();
  hash.update(bytes.subarray(headerBytes));
  const blob = await blobs.prepare([bytes]);
  const message = newMessage({
    ...OF_INSTALLATION,
    id,
    sender: postmasterOf(config.hostname).address,
    blobId: blob.id,
    headerBytes,
    bodyHash: hash.digest(),
    now: clock.now(),
    maxAgeMs: maxAgeMs(config, 'transactional'),
    returnPath,
    requireTls,
    utf8: isAscii(bytes.subarray(0, headerBytes)) ? 0 : 1,
  });
  return { blob, message, recipients: to.map((one) => newRecipient(one, scheduledFor)) };
}

/** Returns the recipient with this address. By default it waits in the queue of the installation. */
export function newRecipient(address: string, scheduledFor?: string): NewRecipient {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return { field: 'to', address, domain, suppressed: null, scheduledFor };
}
