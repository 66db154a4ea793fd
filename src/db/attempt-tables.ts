/** The data dictionary: attempts of deliveries. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by queue/attempts-store.ts: one row for each delivery attempt, with its outcome and the reply. */
export type AttemptRow = {
  id: Id<'att'>;
  recipientId: Id<'rcp'>;
  messageId: string;
  tenantId: Id<'ten'>;
  at: number;
  durationMs: number;
  outcome: 'delivered' | 'deferred' | 'bounced' | 'held' | 'recovered';
  phase: string;
  mx: string | null;
  address: string | null;
  tls: string | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  reply: string | null;
};
