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

/**
 * The refusal of a login that does not stand any more: its password or key has changed, or the mailbox was suspended. The client logs in
 * again on another connection, because AUTH works once on each, and keeps the message, which a permanent reply would have it return.
 */
export const LOGIN_HAS_ENDED = {
  code: 421,
  status: '4.7.0',
  text: 'The login does not stand any more; connect and log in again',
} as const satisfies Reply;

/** X.7.1 is a sender that is not authorized (RFC 3463 section 3.8). */
export function notAuthorized(text: string): Reply & { text: string } {
  return { code: 550, status: '5.7.1', text };
}
