/** The envelope of a message while it is received, and what the client is answered. */
import type { AuthenticationResult } from '../mail/auth/result.ts';
import type { SmtpClient } from '../mail/smtp/server/session.ts';
import type { AcceptedRecipient, Target } from './recipient.ts';
import type { Listing } from './sender/dnsbl.ts';

/** The evaluation on a message that is accepted. */
export type Evaluation = {
  /** Results of authentication; null for mail that was written on this machine, which is not authenticated. */
  result: AuthenticationResult | null;
  /** True for mail that a tenant has submitted, who was authenticated by other means. */
  isSubmitted: boolean;
  /** True when the author's domain asks for the message to be treated as suspicious. */
  isFlagged: boolean;
};

type Client = Pick<SmtpClient, 'address' | 'helo' | 'protocol' | 'tls'>;

/**
 * The source of a message: a client whose mail is evaluated here; or one whose mail was evaluated before, which is a mail server of this
 * machine (LMTP) or, without a client, the queue of this installation.
 */
type Source =
  | { client: Client; evaluation?: undefined }
  | { client: Client | undefined; evaluation: Evaluation };

export type ReceivedEnvelope = Source & {
  /** Empty for the null sender. */
  sender: string;
  utf8: boolean;
  requireTls: boolean;
  /** Parameters of MAIL about notifications (mail/smtp/dsn-parameters.ts); undefined when the client gave none. */
  dsn?: string | undefined;
  /** At least one. */
  recipients: readonly AcceptedRecipient[];
  /** Blocklists that have the client and count as signs of spam. */
  listings: readonly Listing[];
};

/** Returns everything that is done with a message to these recipients. */
export function targetsOf(recipients: ReceivedEnvelope['recipients']): Target[] {
  return recipients.flatMap(({ targets }) => targets);
}
