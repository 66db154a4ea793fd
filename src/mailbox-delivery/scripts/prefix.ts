/** Formats the fields that a mailbox adds to a message. */
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';

/** Returns the fields that were added to the message, with the mailbox below Return-Path, which stands first (RFC 5321 section 4.4). */
export function prefixOf(
  { trace }: Pick<ReceivedMessageRow, 'trace'>,
  { address }: Pick<MailboxRow, 'address'>,
): string {
  const end = trace.indexOf('\r\n') + 2;
  return `${trace.slice(0, end)}Delivered-To: ${address}\r\n${trace.slice(end)}`;
}
