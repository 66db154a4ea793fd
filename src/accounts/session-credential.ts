/** The credential of a session, as the threads know it that serve accounts. */
import type { AppPasswordRow } from '../db/mailbox-tables.ts';
import type { ApiKeyRow } from '../db/tenant-tables.ts';

export type SessionCredential = {
  id: 'password' | AppPasswordRow['id'] | ApiKeyRow['id'];
  /** Time at which its sessions end, in Unix milliseconds; null when they do not end by themselves. */
  expiresAt: number | null;
};
