/** Counts authenticated mail for DMARC reports, when the operator has enabled them. */
import type { App } from '../../app.ts';
import type { ReceivedRecipientKind } from '../../db/inbound-tables.ts';
import type { AuthenticationResult, DkimOutcome } from '../../mail/auth/result.ts';
import type { Observation } from '../../mail/dmarc/aggregate-report.ts';
import { registrableDomain } from '../../mail/domain-names.ts';
import { DAY_MS } from '../../system/clock.ts';
import { observeMessage } from './store.ts';

type Observed = {
  result: AuthenticationResult;
  sender: string;
  recipients: readonly { kind: ReceivedRecipientKind }[];
  isRefused: boolean;
  isFlagged: boolean;
};

/** Reports and bounces are not reported about, so that two installations do not report each other's reports for ever. */
const UNREPORTED: ReadonlySet<ReceivedRecipientKind> = new Set(['bounce', 'complaint', 'report', 'srs']);
/** Maximum length of an observation. One with more signatures is counted without them. */
const MAX_CHARACTERS = 2_000;
const HOUR_MS = 3_600_000;
/** Reports are sent in these hours after their day, each at a random time, so that receivers do not get all at once. */
const FIRST_HOUR = 1;
const HOURS = 4;

/** Counts a message whose author has a DMARC record. It returns at once, and never rejects. */
export function observe(app: App, observed: Observed): void {
  const { db, clock, config, random, log } = app;
  const { dmarc } = observed.result;
  const domain = dmarc.policyDomain;
  const isReported = observed.recipients.some(({ kind }) => !UNREPORTED.has(kind));
  if (!config.inbound.dmarcReports || domain === undefined || !isReported) return;
  if (dmarc.result !== 'pass' && dmarc.result !== 'fail') return;
  const day = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const dueAt = Math.round(day + DAY_MS + (FIRST_HOUR + random() * HOURS) * HOUR_MS);
  const isProven = dmarc.result === 'pass';
  count(db, { day, domain, dueAt, isProven, observation: formatObservation(observed) }).catch((error) =>
    log.warn({ err: error }, 'a message was not counted for a DMARC report'),
  );
}

async function count(
  db: App['db'],
  observed: { day: number; domain: string; dueAt: number; isProven: boolean; observation: string },
): Promise<void> {
  const owner = await registrableDomain(observed.domain);
  db.commitInBackground(observeMessage, { ...observed, registrableDomain: owner });
}

function formatObservation(observed: Observed): string {
  const observation = observationOf(observed);
  const text = JSON.stringify(observation);
  return text.length <= MAX_CHARACTERS ? text : JSON.stringify({ ...observation, dkimResults: [] });
}

function observationOf(observed: Observed): Observation {
  const { dmarc, dkim, spf, address } = observed.result;
  const { sender } = observed;
  return {
    sourceIp: address,
    disposition: dispositionOf(observed),
    dkim: dkim.some(({ isAligned }) => isAligned) ? 'pass' : 'fail',
    spf: dmarc.isSpfAligned ? 'pass' : 'fail',
    reason: reasonOf(observed),
    headerFrom: dmarc.domain,
    envelopeFrom: sender.slice(sender.lastIndexOf('@') + 1).toLowerCase(),
    dkimResults: dkim
      .toSorted((one, other) => rankOf(one, dmarc.domain) - rankOf(other, dmarc.domain))
      .map(({ domain, selector, result }) => ({ domain, selector, result })),
    spfResult: { domain: spf.domain, result: spf.result },
  };
}

function dispositionOf({ result: { dmarc }, isRefused, isFlagged }: Observed): Observation['disposition'] {
  if (isRefused) return 'reject';
  if (isFlagged) return 'quarantine';
  return dmarc.result === 'pass' && isEnforced(dmarc) ? 'pass' : 'none';
}

/** A message that fails is let through because of a trusted sealer, or because its address proves what it is. */
function reasonOf({ result: { dmarc, arc }, isRefused, isFlagged }: Observed): Observation['reason'] {
  if (dmarc.result === 'pass') return undefined;
  if (isEnforced(dmarc) && !isRefused && !isFlagged)
    return arc.result === 'pass' ? 'trusted_forwarder' : 'local_policy';
  return dmarc.isTest ? 'policy_test_mode' : undefined;
}

function isEnforced({ policy }: AuthenticationResult['dmarc']): boolean {
  return policy === 'quarantine' || policy === 'reject';
}

/** Returns the position of a signature among those of its message (RFC 9990 section 3.1.3). */
function rankOf({ result, isAligned, domain }: DkimOutcome, author: string): number {
  if (result !== 'pass') return 3;
  if (!isAligned) return 2;
  return domain === author ? 0 : 1;
}
