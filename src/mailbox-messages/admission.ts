/** Bounds the number of works that a mailbox, and all mailboxes of a tenant, have at the same time, so that neither fills the queue of all. */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { AppError } from '../system/errors.ts';

type Owner = Pick<MailboxRow, 'id' | 'tenantId'>;

export type Admission = {
  /**
   * Does a work, unless its mailbox or its tenant has too many.
   * @throws AppError unavailable; any error of the work
   */
  admit<Result>(owner: Owner, work: () => Promise<Result>): Promise<Result>;
};

/** Maximum numbers of works, those that wait included: half and three quarters of what waits of all (`access.ts`, `routes/messages/content.ts`). */
const MAX_OF_MAILBOX = 32;
const MAX_OF_TENANT = 48;
const RETRY_AFTER_SECONDS = 2;

export function createAdmission(): Admission {
  const counts = new Map<string, number>();
  const count = (id: string, change: 1 | -1) => {
    const now = (counts.get(id) ?? 0) + change;
    if (now === 0) counts.delete(id);
    else counts.set(id, now);
  };
  return {
    async admit({ id, tenantId }, work) {
      if ((counts.get(id) ?? 0) >= MAX_OF_MAILBOX || (counts.get(tenantId) ?? 0) >= MAX_OF_TENANT)
        throw busy();
      for (const one of [id, tenantId]) count(one, 1);
      try {
        return await work();
      } finally {
        for (const one of [id, tenantId]) count(one, -1);
      }
    },
  };
}

export function busy(): AppError {
  return new AppError('unavailable', 'Too many requests for messages are in progress', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
