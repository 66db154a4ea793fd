/** The refusal of a message, and of what is in it. */
import type { Reply } from '../mail/smtp/server/session.ts';

/** Ends the receipt of a message with a reply. */
export class RefusedMessage extends Error {
  override readonly name = 'RefusedMessage';
  readonly reply: Reply;

  constructor(reply: Reply & { text: string }) {
    super(reply.text);
    this.reply = reply;
  }
}

/** X.7.1 is a sender that is not authorized (RFC 3463 section 3.8). */
export function notAuthorized(text: string): Reply & { text: string } {
  return { code: 550, status: '5.7.1', text };
}
