/** A message that is ready to be sent (prepare.ts makes it). */
import type { MessageBytes, OpenMessage } from './contents/open.ts';

export type PreparedMessage = {
  /**
   * Header fields before the message: `DKIM-Signature: …\r\nDate: …\r\n`. Mail of the sandbox domain, which has no key,
   * has the date alone, and forwarded mail has the fields that forwarding has added.
   */
  signature: string;
  /**
   * The signature of the installation, which stands before the others where the site reads it, and is empty elsewhere. Each attempt makes
   * it again: the same key signs the same fields, so it is the same octet by octet.
   */
  secondSignature: string;
  content: MessageBytes;
  /** Returns the header of the content, with the empty line after it. */
  header: OpenMessage['header'];
  /**
   * The envelope sender; empty for the null sender. Unless the message has one of its own, the local part names the message and
   * the day of the attempt, and the domain is the one that was verified when the attempt was claimed, since receivers refuse a
   * domain that no longer exists.
   */
  returnPath: string;
};
