/** The data dictionary: by what emails are found. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by emails/store.ts: finds emails by tag. */
export type EmailTagRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  key: string;
  value: string;
  emailId: Id<'em'>;
};

/** Written by emails/store.ts: finds emails by recipient without reading them all. */
export type EmailAddressRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  address: string;
  emailId: Id<'em'>;
};

/** Written by emails/idempotency/store.ts. */
export type IdempotencyRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  key: string;
  requestHash: string;
  response: string;
  expiresAt: number;
};
