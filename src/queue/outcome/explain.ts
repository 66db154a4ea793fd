/** Finds the meaning of a report in the reply table. */
import type { MessageRow } from '../../db/tables.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { type BounceType, cleanReport, type FinalOutcome, type Outcome, type Report } from './outcome.ts';
import type { Meaning, ReplyClass } from './replies/meaning.ts';
import type { ReplyPhase } from './replies/row.ts';
import type { ReplyTable } from './replies/table.ts';

/**
 * Returns what the report of an attempt means. `recipientDomain` is left out of the text of the reply, whose words it could imitate.
 */
export function explainReport(
  table: ReplyTable,
  { phase, smtpCode: code, enhancedCode: enhanced, text, mx, fact }: Report,
  recipientDomain = '',
): Meaning {
  if (fact !== undefined) return table.explainFact(fact);
  return table.explain({
    phase: replyPhaseOf(phase),
    code,
    enhanced,
    text,
    host: mx,
    ownNames: recipientDomain === '' ? [] : [recipientDomain],
  });
}

/** A simulated reply counts as one to RCPT. Reports of DNS and of this machine have a fact instead of a reply. */
function replyPhaseOf(phase: Report['phase']): ReplyPhase {
  return phase === 'simulated' || phase === 'dns' || phase === 'local' ? 'rcpt' : phase;
}

/** Classes of bounces that pass by themselves. */
const TRANSIENT: ReadonlySet<ReplyClass> = new Set([
  ...(['quota', 'expired', 'rate', 'greylist', 'network', 'dns', 'too-many-rcpt'] as const),
]);

/**
 * Returns the type of a bounce. `isSuppressed` is true when the bounce adds the address to the suppressions.
 * A failure with a code of class 4 is that of a server that has given up (RFC 3463 section 2).
 */
export function bounceTypeOf(
  meaning: Meaning,
  { enhancedCode, isSuppressed }: { enhancedCode: string | null; isSuppressed: boolean },
): BounceType {
  if (isSuppressed) return 'permanent';
  if (meaning.suppresses !== 'never') return 'undetermined';
  return TRANSIENT.has(meaning.class) || enhancedCode?.startsWith('4.') ? 'transient' : 'undetermined';
}

type Context = {
  table: ReplyTable;
  message: Pick<MessageRow, 'datedAt' | 'expiresAt'>;
  recipientDomain: string;
  now: number;
};

/** Returns the outcome in the form in which it is stored, logged and shown. */
export function finalOutcome(outcome: Outcome, context: Context): FinalOutcome {
  const report = cleanReport(outcome.report);
  if (outcome.kind === 'delivered' || outcome.kind === 'held') return { ...outcome, report };
  const { table, message, recipientDomain, now } = context;
  // The words of the reply decide, also those that are hidden from readers because they are the user name of a relay's login.
  const meaning = explainReport(
    table,
    { ...report, text: cleanForeignText(outcome.report.text) },
    recipientDomain,
  );
  if (outcome.kind === 'bounced') return { ...outcome, report, meaning };
  const { endsAtAgeMs } = outcome;
  if (endsAtAgeMs !== undefined && now >= message.datedAt + endsAtAgeMs) {
    const ended = { ...report, enhancedCode: report.enhancedCode?.replace(/^4/, '5') ?? null };
    return { kind: 'bounced', report: ended, meaning };
  }
  if (now < message.expiresAt) return { ...outcome, report, meaning };
  // X.4.7 says that time has run out (RFC 3463 section 3.5). The last reply stays in the text and decides the subtype.
  const expired = { ...report, enhancedCode: '4.4.7', text: `Expired. Last: ${report.text}` };
  const { subType } = meaning;
  return { kind: 'bounced', report: expired, meaning: { ...table.explainFact('expired'), subType } };
}
