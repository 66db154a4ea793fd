/**
 * The mail log: one line for each thing that happens to mail, as operators know it from other mail servers. A line is
 * written after its change is on disk, never before. Lines name addresses, and no secret, subject or body.
 * `log.mail: false` turns them off, but for held mail, which waits for an operator.
 */
import type { App } from '../app.ts';
import type { Mode } from '../db/tables.ts';

export type MailLogApp = Pick<App, 'log' | 'config'>;

/** Whose mail a line is about. */
type OfEmail = { emailId: string; tenantId: string; mode: Mode };

type Accepted = OfEmail & {
  from: string;
  /** Number of addresses that the email goes to. */
  recipients: number;
  sizeBytes: number;
  /** ISO 8601; null: at once. */
  scheduledAt: string | null;
};

export function logAccepted(app: MailLogApp, line: Accepted): void {
  if (app.config.log.mail) app.log.info(line, 'mail accepted');
}

type Attempted = OfEmail & {
  to: string;
  attempt: number;
  /** The mail servers it goes to (queue/site.ts), and the one that was talked to. */
  site: string;
  host: string | null;
  address: string | null;
  tls: string | null;
  code: number | null;
  enhancedCode: string | null;
  diagnostic: string;
  durationMs: number;
};

const MESSAGES = {
  delivered: 'mail delivered',
  bounced: 'mail bounced',
  deferred: 'mail deferred',
} as const;

/** `nextAttemptAt`: ISO 8601, of mail that was deferred. */
export function logAttempt(
  app: MailLogApp,
  outcome: keyof typeof MESSAGES,
  line: Attempted & { nextAttemptAt?: string },
): void {
  if (app.config.log.mail) app.log.info(line, MESSAGES[outcome]);
}

type Held = OfEmail & { to: string; attempt: number; reason: string; diagnostic: string };

/** Written whatever the settings of the mail log are: somebody has to do something about it. */
export function logHeld(app: Pick<App, 'log'>, line: Held): void {
  app.log.warn(line, 'mail held');
}

type DomainState = { domainId: string; tenantId: string; name: string; status: string };

/** `lapsed`: a domain that was verified is found without its records, or no mail is taken for it any more. */
export function logDomain(app: MailLogApp, event: 'verified' | 'lapsed', line: DomainState): void {
  if (app.config.log.mail) app.log.info(line, event === 'verified' ? 'domain verified' : 'domain lapsed');
}
