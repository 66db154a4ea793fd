/** Shapes of the API keys of mailboxes, on the control socket. */
import { type Static, Type } from 'typebox';
import type { ApiKeyRow } from '../../db/tenant-tables.ts';
import { allowedIps, keyName, showApiKey } from '../../tenants/schemas.ts';

/**
 * Rights of a key of a mailbox: to read; to set marks, move messages and make drafts, which its owner sends, too; or to do all of it, sending
 * included.
 */
export const MAILBOX_ACCESS = ['read', 'drafts', 'send'] as const;
export type MailboxAccess = (typeof MAILBOX_ACCESS)[number];

export const newMailboxKeySchema = Type.Object({
  name: keyName,
  access: Type.Enum([...MAILBOX_ACCESS]),
  member: Type.Optional(
    Type.String({ description: 'Address of the member that the key of a shared mailbox is for.' }),
  ),
  allowedIps: Type.Optional(Type.Union([allowedIps, Type.Null()])),
  expiresAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type NewMailboxKey = Static<typeof newMailboxKeySchema>;

/** Returns a key as the control socket answers with it. */
export function showMailboxKey(row: ApiKeyRow) {
  const { id, name, mode, hint, allowedIps: from, createdAt, lastUsedAt, expiresAt } = showApiKey(row);
  const { mailboxId, memberId } = row;
  const access = accessOf(row);
  return {
    id,
    mailboxId,
    memberId,
    name,
    mode,
    access,
    hint,
    allowedIps: from,
    createdAt,
    lastUsedAt,
    expiresAt,
  };
}

/** Returns what a key may do, from the limits that it has in common with other keys. */
function accessOf({
  permission,
  requiresApproval,
}: Pick<ApiKeyRow, 'permission' | 'requiresApproval'>): MailboxAccess {
  if (permission === 'read_only') return 'read';
  return requiresApproval === null ? 'send' : 'drafts';
}
