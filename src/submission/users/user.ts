/** Somebody who has logged in to hand over mail: the owner of a mailbox, or an application with an API key. */
import type { Mailbox } from '../../mail/address.ts';
import type { Reply, Sender } from '../../mail/smtp/server/session.ts';
import type { StoredMessage } from '../message.ts';

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
};

export type User = {
  /** Identifies the user in the log. */
  logFields: Readonly<Record<string, string>>;
  /**
   * Checks that the login is still valid, and counts the message that begins.
   * @throws AppError
   */
  beginMessage(): Promise<void>;
  /**
   * Decides about an address that the mail is from.
   * @throws AppError
   */
  refuseSender(address: Pick<Mailbox, 'address' | 'domain'>): Promise<Reply | undefined>;
  /**
   * Decides about another recipient.
   * @throws AppError
   */
  refuseRecipient(
    recipient: SubmittedRecipient,
    accepted: readonly SubmittedRecipient[],
  ): Promise<Reply | undefined>;
  /**
   * Queues the message and returns the id under which it is known; it is on disk then. After a refusal none of its bytes stay behind.
   * @throws RefusedMessage; AppError
   */
  accept(submission: Submission): Promise<string>;
};
