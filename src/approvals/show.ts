/** Shows approvals as the API does, in its answers and in events. Threads of the database load it, so it loads no schemas. */
import type { ApprovalRow } from '../db/approval-tables.ts';
import { isoTime } from '../system/clock.ts';
import type { ShownApproval, ShownApprovalState } from './schemas.ts';

/** Returns an approval as the API shows it. */
export function showApproval(row: ApprovalRow): ShownApproval {
  const { id, kind, reference, keyId, fromHeader: from, subject, sendAt, createdAt, decidedBy } = row;
  return {
    id,
    kind,
    emailId: kind === 'email' ? reference : null,
    broadcastId: kind === 'broadcast' ? reference : null,
    ...showApprovalState(row),
    keyId,
    from,
    subject,
    sendAt: sendAt === null ? null : isoTime(sendAt),
    decidedBy,
    createdAt: isoTime(createdAt),
  };
}

/** Returns the part of an approval that emails and broadcasts show. */
export function showApprovalState(row: ApprovalRow): ShownApprovalState {
  const { state, hash, expiresAt, decidedAt, reason } = row;
  return {
    state,
    hash,
    expiresAt: isoTime(expiresAt),
    decidedAt: decidedAt === null ? null : isoTime(decidedAt),
    reason,
  };
}
