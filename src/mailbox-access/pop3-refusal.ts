/** Turns what the thread of an account refuses into refusals of POP3. */
import type { Refusal as ImapRefusal } from '../mail/imap/session.ts';
import type { Refusal } from '../mail/pop3/session.ts';

/** Returns the refusal for a client. An account that ends its sessions does so in the words of IMAP. */
export function toRefusal(refusal: Refusal | ImapRefusal): Refusal {
  return refusal.refused === true ? refusal : { refused: true, code: 'SYS/TEMP', text: refusal.text };
}
