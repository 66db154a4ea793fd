/** Somebody who has logged in to hand over mail: the owner of a mailbox, or an application with an API key. */
import type { TenantRow } from '../db/tenant-tables.ts';
import type { IdempotencyClaim, IdempotencyOwner } from '../emails/idempotency/store.ts';
import { isAsciiAddress, type Mailbox } from '../mail/address.ts';
import type { Reply, Sender } from '../mail/smtp/server/session.ts';
import type { WatchedLogin } from '../mailbox-access/open-logins.ts';
import type { StoredMessage } from './message.ts';

/** A recipient that was accepted. */
export type SubmittedRecipient = {
  /** `localPart@domain`, the domain in lower case and A-labels. */
  address: string;
  domain: string;
  /** Parameters about notifications (mail/smtp/dsn-parameters.ts); null when the client gave none. */
  dsn: string | null;
};

export type Submission = StoredMessage & {
  /** Id of the message. */
  id: string;
  envelope: Sender;
  recipients: readonly SubmittedRecipient[];
  /** Claim with which the message of a person is accepted once (accept.ts). Messages by SMTP have none. */
  once?: { owner: IdempotencyOwner; claim: IdempotencyClaim } | undefined;
};

/**
 * Returns 1 for a message that only servers with SMTPUTF8 take (RFC 6531 section 3.2). A client may ask for SMTPUTF8 although nothing needs
 * it, and such a message goes to every server. One with a sender in UTF-8 needs it also when the client has not asked, since nobody could
 * answer it otherwise.
 */
export function needsUtf8({ envelope, recipients, header, hasUtf8Header }: Submission): 0 | 1 {
  if (envelope.utf8 && hasUtf8Header) return 1;
  const addresses = [envelope, ...recipients, ...header.senders].map(({ address }) => address);
  return addresses.every(isAsciiAddress) ? 0 : 1;
}

/** Returns the domain of an address in lower case; empty for the null sender. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** Returns the domains of all addresses that a message says that it is from, in its envelope and in its header, each once. */
export function senderDomainsOf({
  envelope,
  header,
}: Pick<Submission, 'envelope' | 'header'>): ReadonlySet<string> {
  const domains = new Set(header.senders.map(({ domain }) => domain));
  return envelope.address === '' ? domains : domains.add(domainOf(envelope.address));
}

export type User = WatchedLogin<Reply> & {
  tenantId: TenantRow['id'];
  /** Maximum number of recipients of a message, where it is less than that of the server. */
  maxRecipients?: number;
  /** False when notifications do not go to the user, so that a client cannot choose among them (RFC 3461). */
  hasNotifications: boolean;
  /** Identifies the user in the log. */
  logFields: Readonly<Record<string, string>>;
  /**
   * Checks that the login still stands, and counts the message that begins.
   * @throws AppError
   */
  beginMessage(): Promise<Reply | undefined>;
  /**
   * Decides about an address that the mail is from.
   * @throws AppError
   */
  refuseSender(address: Pick<Mailbox, 'address' | 'domain'>): Promise<Reply | undefined>;
  /**
   * Decides about another recipient of a message. `accepted` is the number of those that were accepted before.
   * @throws AppError
   */
  refuseRecipient(recipient: SubmittedRecipient, accepted: number): Promise<Reply | undefined>;
  /**
   * Queues the message and returns the id under which it is known; it is on disk then. After a refusal none of its bytes stay behind.
   * @throws RefusedMessage; AppError
   */
  accept(submission: Submission): Promise<string>;
};
