/** The data dictionary: attempts of deliveries. The conventions are those of tables.ts, which lists every table. */
import { id, integer, nullable, type Row, table, text } from './table.ts';

/** Written by queue/attempts-store.ts: one row for each delivery attempt, with its outcome and the reply. */
export const attempts = table({
  id: id('att'),
  recipientId: id('rcp'),
  messageId: text(),
  tenantId: id('ten'),
  at: integer(),
  durationMs: integer(),
  outcome: text<'delivered' | 'deferred' | 'bounced' | 'held' | 'recovered'>(),
  phase: text(),
  mx: nullable(text()),
  address: nullable(text()),
  tls: nullable(text()),
  smtpCode: nullable(integer()),
  enhancedCode: nullable(text()),
  reply: nullable(text()),
});
export type AttemptRow = Row<typeof attempts>;
