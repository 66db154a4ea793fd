/** The envelope of a message while it is received, and what the client is answered. */
import type { Reply, SmtpClient } from '../mail/smtp/server/session.ts';
import type { AcceptedRecipient } from './recipient.ts';
import type { Listing } from './sender/dnsbl.ts';

export type ReceivedEnvelope = {
  /** The client that sent the message; undefined for mail of this installation itself. */
  client: Pick<SmtpClient, 'address' | 'helo' | 'protocol' | 'tls'> | undefined;
  /** Empty for the null sender. */
  sender: string;
  utf8: boolean;
  requireTls: boolean;
  /** At least one. */
  recipients: readonly AcceptedRecipient[];
  /** Blocklists that have the client and count as signs of spam. */
  listings: readonly Listing[];
};

/** Ends the receipt of a message with a refusal. */
export class RefusedMessage extends Error {
  override readonly name = 'RefusedMessage';
  readonly reply: Reply;

  constructor(reply: Reply & { text: string }) {
    super(reply.text);
    this.reply = reply;
  }
}
