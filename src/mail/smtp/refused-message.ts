/** The end of the receipt of a message with a reply that refuses it. */
import type { Reply } from './server/session.ts';

/** Ends the receipt of a message with a reply. */
export class RefusedMessage extends Error {
  override readonly name = 'RefusedMessage';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super([reply.text].flat().join(' '));
    this.reply = reply;
  }
}
