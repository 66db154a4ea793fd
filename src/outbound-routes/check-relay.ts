/** Checks a relay without sending mail: it connects to each host, verifies its certificate and logs in. */
import type { App } from '../app.ts';
import type { SmtpFailure } from '../mail/smtp/client/failure.ts';
import { DEFAULT_SMTP_TIMEOUTS } from '../mail/smtp/client/timeouts.ts';
import { replyText } from '../mail/smtp/reply.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import { openRelay, planRelay } from './relay.ts';
import type { Relay } from './route.ts';

/** Maximum time of each step, so that a person need not wait for the minutes that mail would. */
const STEP_MS = 10_000;
const TIMEOUTS = {
  ...DEFAULT_SMTP_TIMEOUTS,
  connectMs: STEP_MS,
  bannerMs: STEP_MS,
  ehloMs: STEP_MS,
  startTlsMs: STEP_MS,
  authMs: STEP_MS,
};

export type RelayCheck = {
  host: string;
  address: string | null;
  /** Version of TLS; null when the session did not open. */
  tls: string | null;
  /** Why no mail would leave through this address; null when it would. */
  problem: string | null;
};

type Checking = Pick<App, 'clock' | 'dns' | 'dial' | 'random' | 'targets' | 'config' | 'sealer'>;

/** Checks all addresses of the relay at once, except that a login that was refused is not tried again. */
export async function checkRelay(app: Checking, relay: Relay): Promise<RelayCheck[]> {
  const plan = await planRelay(app, relay);
  if (plan.kind !== 'hosts') {
    const problem = 'reason' in plan ? plan.reason : plan.kind;
    return [{ host: relay.hosts.join(', '), address: null, tls: null, problem: withAdvice(relay, problem) }];
  }
  const checks: RelayCheck[] = [];
  for (const { name, addresses } of plan.hosts) {
    for (const address of addresses) {
      const opened = await openRelay(app, relay, { host: name, address, timeouts: TIMEOUTS });
      const tls = opened.ok ? (opened.session.tls?.version ?? null) : null;
      if (opened.ok) void opened.session.quit();
      checks.push({ host: name, address, tls, problem: opened.ok ? null : explain(opened.failure) });
      if (!opened.ok && opened.failure.phase === 'auth') return checks;
    }
  }
  return checks;
}

function explain(failure: SmtpFailure): string {
  const text = failure.kind === 'reply' ? replyText(failure.reply) : failure.message;
  return `${failure.phase}: ${cleanForeignText(text)}`;
}

function withAdvice({ isPrivate }: Relay, problem: string): string {
  return isPrivate ? problem : `${problem}; a relay with a private address needs --private`;
}
