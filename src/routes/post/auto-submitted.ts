/** Tells messages that a program sent by itself, such as bounces and out-of-office replies, from those of people. */
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { findField, type HeaderField } from '../../mail/message/parse/header-fields.ts';

/** Fields that programs set which do not know RFC 3834. */
const AUTOMATIC_FIELDS = ['x-autoreply', 'x-autorespond', 'x-auto-reply', 'x-mail-autoreply'] as const;

/** Returns true when a program sent the message in response to another one, or about one. */
export function isAutoSubmitted(
  { sender }: Pick<ReceivedMessageRow, 'sender'>,
  fields: readonly HeaderField[],
): boolean {
  // Notifications have the null sender, so that nobody answers them (RFC 5321 section 4.5.5).
  if (sender === '') return true;
  // Every value but `no` means automatic, whatever parameters follow it (RFC 3834 section 5).
  const keyword = /^[a-z-]*/i.exec(findField(fields, 'auto-submitted')?.value ?? 'no')?.[0].toLowerCase();
  if (keyword !== 'no') return true;
  const precedence = findField(fields, 'precedence')?.value.toLowerCase();
  return precedence === 'auto_reply' || AUTOMATIC_FIELDS.some((name) => findField(fields, name));
}
