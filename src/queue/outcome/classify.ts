/**
 * Classifies a refusal of a peer as a deferral or a bounce. The phase counts as much as the code. Only a reply about
 * the address itself suppresses the address, because a refusal for reputation or policy says nothing about the mailbox.
 */
import type { Notice } from '../../mail/dsn/notice.ts';
import type { SmtpPhase } from '../../mail/smtp/client/failure.ts';
import type { SmtpReply } from '../../mail/smtp/reply.ts';
import { NO_REPORT, type Outcome, type Peer, reportReply } from './outcome.ts';

/**
 * Enhanced codes of addresses that do not exist or do not accept mail any more (RFC 3463 sections 3.2, 3.3 and 3.8, RFC 5248,
 * RFC 7293, RFC 7505).
 */
const BAD_MAILBOX_CODES = new Set([
  '5.1.0',
  '5.1.1',
  '5.1.2',
  '5.1.3',
  '5.1.6',
  '5.1.10',
  '5.2.1',
  '5.7.13',
  '5.7.17',
  '5.7.18',
]);

/** Reply codes of hosts and domains that never accept mail (RFC 7504). */
const NEVER_ACCEPTS_MAIL = new Set([521, 556]);
/**
 * Enhanced codes about the client or its commands (RFC 3463 sections 3.6 and 3.8). Postscreen, which is part of Postfix,
 * refuses clients on a block list with `521 5.7.1`, and clients that send before the greeting with `521 5.5.1`.
 */
const ABOUT_CLIENT = /^5\.[57]\./;

const UNKNOWN_USER_WORDS =
  /\b(?:user|mailbox|recipient|address|account)\b.{0,40}\b(?:unknown|not exist|not found|no longer|disabled|unavailable)|(?:unknown|no such|invalid) (?:user|mailbox|recipient|address|account)|does not exist/i;
const TOO_MANY_RECIPIENTS = /too many (?:recipients|rcpt)/i;

/** Returns the outcome of a refused command: a deferral, or a bounce with the kind that decides on suppression. */
export function classifyRefusal(peer: Peer, phase: SmtpPhase, reply: SmtpReply): Outcome {
  const report = reportReply(peer, phase, reply);
  if (reply.code >= 400 && reply.code < 500) return { kind: 'deferred', report };
  if (!isAboutThisMail(phase, reply)) return { kind: 'deferred', report };
  if (isAboutMailbox(phase, reply)) return { kind: 'bounced', report, bounce: 'permanent' };
  return { kind: 'bounced', report, bounce: isMailboxFull(reply) ? 'transient' : 'undetermined' };
}

/**
 * Returns true when a refusal is final for this mail. A 503 or a 3xx reply means that the session went wrong. A refusal
 * before MAIL is about the client or that host, and another host or a later attempt may succeed. "Too many
 * recipients" asks for another transaction.
 */
function isAboutThisMail(phase: SmtpPhase, reply: SmtpReply): boolean {
  if (reply.code < 500 || reply.code === 503) return false;
  if (neverAcceptsMail(reply)) return true;
  if (phase === 'connect' || phase === 'banner' || phase === 'ehlo' || phase === 'starttls') return false;
  return !TOO_MANY_RECIPIENTS.test(reply.lines.join(' '));
}

function neverAcceptsMail({ code, enhanced }: Pick<SmtpReply, 'code' | 'enhanced'>): boolean {
  return NEVER_ACCEPTS_MAIL.has(code) && !ABOUT_CLIENT.test(enhanced ?? '');
}

function isAboutMailbox(phase: SmtpPhase, reply: SmtpReply): boolean {
  if (neverAcceptsMail(reply)) return true;
  if (phase !== 'rcpt' && phase !== 'dot') return false;
  if (reply.enhanced !== undefined) return BAD_MAILBOX_CODES.has(reply.enhanced);
  if (phase !== 'rcpt') return false;
  if (reply.code === 551 || reply.code === 553) return true;
  return reply.code === 550 && UNKNOWN_USER_WORDS.test(reply.lines.join(' '));
}

function isMailboxFull(reply: SmtpReply): boolean {
  return reply.enhanced === '5.2.2' || (reply.code === 552 && reply.enhanced === undefined);
}

/** Matches the reply of a server in a diagnostic. Some programs write its code twice. */
const REPLY = /^([245]\d\d)[ :-]+(?:\1[ -]+)?([245]\.\d{1,3}\.\d{1,3}(?![\d.]))?/;

type Bounced = Extract<Outcome, { kind: 'bounced' }>;

/**
 * Returns the bounce that a report of a failure means. The code in the reply of the last server decides; the status of the report
 * counts when the reply has none that says more, because some servers call every refusal an unknown user. Words decide nothing,
 * and neither do reports that are written for people: what an unknown program says about a mailbox suppresses no address.
 */
export function classifyNotice({ form, status, diagnosticCode, remoteMta }: Notice): Bounced {
  const [, digits, enhanced] = REPLY.exec(diagnosticCode ?? '') ?? [];
  const code = digits === undefined ? null : Number(digits);
  const enhancedCode =
    enhanced === undefined || /\.0\.0$/.test(enhanced) ? (status ?? enhanced ?? null) : enhanced;
  const text = diagnosticCode ?? status ?? 'The message could not be delivered';
  const report = { ...NO_REPORT, phase: 'dsn', mx: remoteMta, smtpCode: code, enhancedCode, text } as const;
  const hasNever = code !== null && neverAcceptsMail({ code, enhanced: enhancedCode ?? undefined });
  const isBad = hasNever || (enhancedCode !== null && BAD_MAILBOX_CODES.has(enhancedCode));
  if (isBad && form === 'structured') return { kind: 'bounced', report, bounce: 'permanent' };
  // A failure with a code of class 4 is that of a server that has given up (RFC 3463 section 2).
  const isTransient = enhancedCode === null ? code === 552 : /^4\.|^5\.2\.2$/.test(enhancedCode);
  return { kind: 'bounced', report, bounce: isTransient ? 'transient' : 'undetermined' };
}
