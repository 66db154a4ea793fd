/**
 * Finds the meaning of a bounce by mail in the reply table. The reply of the last server decides; the status of the report counts when
 * the reply has no code that says more, because some servers call every refusal an unknown user.
 */
import type { Notice } from '../../mail/dsn/notice.ts';
import { NO_REPORT, type Report } from './outcome.ts';
import type { Meaning, ReplyClass } from './replies/meaning.ts';
import type { ReplyPhase } from './replies/row.ts';
import type { ReplyTable } from './replies/table.ts';

/** Codes that name no cause (RFC 3463 section 3.1). */
const UNSPECIFIC = /\.0\.0$/;

/** Programs name the command that a reply answered: Postfix behind the reply, Exim before it. */
const PHASES: readonly { phase: ReplyPhase; words: RegExp }[] = [
  { phase: 'mail', words: /\(in reply to MAIL FROM command\)|\bafter MAIL FROM:/i },
  { phase: 'rcpt', words: /\(in reply to RCPT TO command\)|\bafter RCPT TO:|\(state 14\)/i },
  { phase: 'data', words: /\(in reply to DATA command\)|\bafter DATA:/i },
  { phase: 'dot', words: /\(in reply to end of DATA command\)|\bafter end of data:/i },
];

/** Classes that a status of the report may explain better than the words of a reply without a code of its own. */
const VAGUE: ReadonlySet<ReplyClass> = new Set(['unknown', 'hard-unconfirmed']);

export type ExplainedNotice = { report: Report; meaning: Meaning };

/** Returns the report of a failure, and what it means. `recipientDomain` is left out of the text. */
export function explainNotice(table: ReplyTable, notice: Notice, recipientDomain = ''): ExplainedNotice {
  const { status, diagnosticCode, explanation, remoteMta, form } = notice;
  const reply = quotedReply(diagnosticCode ?? '');
  const { code, enhanced: own } = readReplyCodes(reply);
  const isSpecific = own !== null && !UNSPECIFIC.test(own);
  const text = diagnosticCode ?? status ?? 'The message could not be delivered';
  const phase = phaseOf(text) ?? phaseOf(explanation ?? '') ?? 'dsn';
  const explain = (enhanced: string | null) =>
    table.explain({
      phase,
      code,
      enhanced,
      text: reply === '' ? text : reply,
      host: remoteMta,
      ownNames: recipientDomain === '' ? [] : [recipientDomain],
    });
  const enhancedCode = isSpecific ? own : (status ?? own);
  const report = { ...NO_REPORT, phase: 'dsn', mx: remoteMta, smtpCode: code, enhancedCode, text } as const;
  const quoted = { form, code, phase };
  if (isSpecific || code === null) return { report, meaning: believed(quoted, explain(enhancedCode)) };
  const byWords = explain(own);
  const meaning = VAGUE.has(byWords.class) ? lessCertain(explain(enhancedCode)) : byWords;
  return { report, meaning: believed(quoted, meaning) };
}

function phaseOf(text: string): ReplyPhase | undefined {
  return PHASES.find(({ words }) => words.test(text))?.phase;
}

function lessCertain(meaning: Meaning): Meaning {
  return meaning.suppresses === 'now' ? { ...meaning, suppresses: 'repeated' } : meaning;
}

type Quoted = { form: Notice['form']; code: number | null; phase: ReplyPhase };

/**
 * Reports in the machine-readable form count in full, and so does text for people that quotes the reply to the command RCPT, as Exim and
 * Google do. Other text counts only where it quotes a reply, and then after repetition: what an unknown program says about a mailbox
 * suppresses no address.
 */
function believed({ form, code, phase }: Quoted, meaning: Meaning): Meaning {
  if (form === 'structured') return meaning;
  if (code === null) return { ...meaning, suppresses: 'never' };
  return phase === 'rcpt' ? meaning : lessCertain(meaning);
}

/** Matches the codes of a reply. Some programs write the reply code twice. */
const REPLY = /^([2-5]\d\d)(?:[ :-]+(?:\1[ -]+)?([245]\.\d{1,3}\.\d{1,3}(?![\d.]))?|$)/;
/** Matches an enhanced code without a reply code. */
const STATUS_ALONE = /^#?([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** Returns the codes of a reply; null for one that it does not have. */
export function readReplyCodes(text: string): { code: number | null; enhanced: string | null } {
  const [, digits, enhanced] = REPLY.exec(text) ?? [];
  if (digits !== undefined) return { code: Number(digits), enhanced: enhanced ?? null };
  return { code: null, enhanced: STATUS_ALONE.exec(text)?.[1] ?? null };
}

/** Matches the reply that old Postfix quotes behind the name of the server: `host mx.example[192.0.2.1] said: 550 No such user`. */
const SAID = /\bsaid:? ([2-5]\d\d[ -].*)$/;
/** Matches the reply that Cisco quotes behind words of its own, which know less: `5.1.0 - Unknown address error 550-'No such user'`. */
const IN_QUOTES = /\b([2-5]\d\d)-'(.*)'/;

/** Returns the reply of the last server in a diagnostic; the whole diagnostic when no other words stand before a reply. */
function quotedReply(diagnostic: string): string {
  const said = SAID.exec(diagnostic)?.[1];
  if (said !== undefined) return said;
  const [, code, text] = IN_QUOTES.exec(diagnostic) ?? [];
  return code === undefined ? diagnostic : `${code} ${text}`;
}
