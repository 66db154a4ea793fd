/** Completes the outcome of an attempt: mail that has expired bounces, and the reply table says what the outcome means. */
import type { SpooledMessage } from '../store.ts';
import { explainReport } from './explain.ts';
import { cleanReport, type FinalOutcome, type Outcome } from './outcome.ts';
import type { ReplyTable } from './replies/table.ts';

type Context = {
  table: ReplyTable;
  expiresAt: SpooledMessage['expiresAt'];
  recipientDomain: string;
  now: number;
};

/** Returns the outcome in the form in which it is stored, logged and shown. */
export function finalOutcome(outcome: Outcome, context: Context): FinalOutcome {
  const report = cleanReport(outcome.report);
  if (outcome.kind === 'delivered' || outcome.kind === 'held') return { ...outcome, report };
  const { table, expiresAt, recipientDomain, now } = context;
  const meaning = explainReport(table, report, recipientDomain);
  if (outcome.kind === 'bounced' || now < expiresAt) return { ...outcome, report, meaning };
  // X.4.7 says that time has run out (RFC 3463 section 3.5). The last reply stays in the text and decides the subtype.
  const expired = { ...report, enhancedCode: '4.4.7', text: `Expired. Last: ${report.text}` };
  const { subType } = meaning;
  return { kind: 'bounced', report: expired, meaning: { ...table.explainFact('expired'), subType } };
}
