/** Names of mailboxes in scripts, which are UTF-8 (RFC 5228 section 4.1). */

/** Maximum length of a name. Our own limit, far above that of names which accounts accept. */
const MAX_NAME_CHARACTERS = 1_000;

const CONTROL = /\p{Cc}/u;

/** Returns true for a text that may be the name of a mailbox. The account decides whether it accepts the name. */
export function isMailboxName(text: string): boolean {
  return text !== '' && text.length <= MAX_NAME_CHARACTERS && !CONTROL.test(text);
}

/** Group of the tags that find a mailbox by something else than its name, only one of which may be used (RFC 9042 section 4.2). */
export const MAILBOX_CHOICE = 'mailbox choice';
