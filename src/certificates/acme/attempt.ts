/**
 * One attempt to have a certificate for a name: nothing while the present one is good, else an order. What comes of it is a
 * value: the columns to store and the time of the next attempt.
 */
import type { App } from '../../app.ts';
import type { AcmeCertificateRow } from '../../db/own-tables.ts';
import { findServedName } from '../../host-names/served-names.ts';
import { DAY_MS } from '../../system/clock.ts';
import { type Certificate, logFields } from '../certificate.ts';
import { forgetAccount, openAccount } from './account.ts';
import { AcmeError } from './acme-error.ts';
import type { Authority } from './authority.ts';
import { openCertificateKey, sealCertificateKey, tryOpenCertificateKey } from './certificate-key.ts';
import { dailyLimits } from './daily-limits.ts';
import { findWrongDirection } from './leads-here.ts';
import { type Account, orderCertificate } from './order.ts';
import { readCertificate } from './ordered.ts';
import { askForRenewal, MIN_RENEWAL_MS, renewalTime } from './renewal.ts';
import type { Solver } from './solver.ts';
import { countOrder, keepOrderUrl, setNextKey } from './store.ts';

type AttemptApp = Pick<App, 'clock' | 'config' | 'db' | 'dns' | 'log' | 'random' | 'sealer'> & {
  authority: Authority;
  solvers: readonly Solver[];
  /** Time until which no orders are made for names of tenants, because the authority asked for a pause. */
  pause: { until: number };
};

/** `outcome` is for the metrics. */
type Attempted = {
  outcome: 'unchanged' | 'issued' | 'postponed' | 'failed';
  set: Partial<AcmeCertificateRow>;
  dueAt: number;
};

/** Delay after the first failure, in milliseconds. It doubles with each further one. */
const FIRST_DELAY_MS = 5 * 60_000;
/** Maximum delay after a failure, for names of the operator and for those of tenants, in milliseconds. */
const MAX_OPERATOR_DELAY_MS = 6 * 3_600_000;
const MAX_TENANT_DELAY_MS = DAY_MS;
/** Maximum delay that an authority can ask for, in milliseconds. Its limits last a week. */
const MAX_RETRY_AFTER_MS = 7 * DAY_MS;
/** Bounds of the pause for names of tenants after the authority has refused an order because there were too many. */
const MIN_PAUSE_MS = 5 * 60_000;
const MAX_PAUSE_MS = 3_600_000;

/** Errors that say nothing about the order, which goes on at the next attempt. */
const PASSING_ERRORS = [
  ...['slow', 'unreachable', 'status', 'tooLong', 'serverInternal', 'rateLimited', 'badNonce', 'noNonce'],
];
/** Maximum number of failures after which an order that was begun goes on. */
const MAX_CONTINUATIONS = 8;

/** Time after which a name whose domain is not verified is looked at again, in milliseconds. */
const UNVERIFIED_MS = 3_600_000;

/** Looks after one name. It rejects only for a bug, and when `signal` was aborted. */
export async function attemptOrder(
  app: AttemptApp,
  row: AcmeCertificateRow,
  signal: AbortSignal,
): Promise<Attempted> {
  const present = readCertificate(app, row);
  const planned = present && (await planRenewal(app, row, present));
  if (planned) return planned;
  try {
    const wrong = await findWrongDirection(app, row.name);
    if (wrong !== undefined) {
      const reason = `${row.name} ${wrong}`;
      if (row.chain === null) return awaitRecord(app, row, reason);
      throw new AcmeError('dns', reason);
    }
    // Before an order is counted: an authority that is down must not use up the orders of a day.
    await requireProfile(app);
    const account = await openAccount(app, app.authority);
    const solvers = await findSolvers(app, row, account);
    return (await postpone(app, row)) ?? (await issue(app, { row, present, account, solvers, signal }));
  } catch (error) {
    if (error instanceof AcmeError) return settleFailure(app, row, error);
    throw error;
  }
}

/** Returns when a good certificate is looked at again; undefined when it is to be renewed now. */
async function planRenewal(
  app: AttemptApp,
  row: AcmeCertificateRow,
  present: Certificate,
): Promise<Attempted | undefined> {
  const now = app.clock.now();
  if (row.renewAt === null || row.renewAt <= now || present.expiresAt <= now) return undefined;
  const { certificateIdOf } = await import('./certificate-id.ts');
  const certificateId = certificateIdOf(present.chain);
  if (certificateId === undefined) return wait(row.renewAt, row.renewAt);
  const asked = await askForRenewal(app, app.authority, { certificateId, plannedAt: row.renewAt });
  const renewAt = Math.max(asked.renewAt ?? row.renewAt, (row.issuedAt ?? 0) + MIN_RENEWAL_MS);
  if (renewAt < row.renewAt) {
    const { name } = row;
    app.log.info(
      { name, renewAt, explanation: asked.explanation },
      'the authority wants a certificate renewed',
    );
  }
  return renewAt <= now ? undefined : wait(renewAt, asked.nextLookAt);
}

function wait(renewAt: number, nextLookAt: number): Attempted {
  return { outcome: 'unchanged', set: { renewAt }, dueAt: Math.min(renewAt, nextLookAt) };
}

/** Returns when an order that may not be made now is tried again; undefined when it may be made. */
async function postpone(app: AttemptApp, row: AcmeCertificateRow): Promise<Attempted | undefined> {
  const { tenantId, name } = row;
  if (tenantId === null || row.orderUrl !== null) return undefined;
  const now = app.clock.now();
  const served = await findServedName(app.db.read, name, { config: app.config, now });
  if (!served?.isVerified) return postponed('its domain is not verified', now + UNVERIFIED_MS, now);
  if (app.pause.until > now)
    return postponed('the authority takes no more orders at present', app.pause.until, now);
  // The renewal of a certificate that is there passes, since the limit is about names without end and orders that fail.
  if (row.chain !== null && row.failures === 0) return undefined;
  const limits = dailyLimits(app.config.acme.tenantOrdersPerDay, DAY_MS);
  const freeAt = await app.db.commit(countOrder, { name, tenantId, limits, now });
  return freeAt === undefined ? undefined : postponed('the orders of this day are used up', freeAt, now);
}

/**
 * Returns when a name that never had a certificate is looked at again. That its record is not published yet is no failure. A name is looked at
 * after the time for which it has waited already, because resolvers remember that a record is missing.
 */
function awaitRecord(app: AttemptApp, row: AcmeCertificateRow, reason: string): Attempted {
  const { name, tenantId, lastError, createdAt } = row;
  if (reason !== lastError)
    app.log.info({ name, tenantId, reason }, 'certificate is not ordered before its name leads here');
  const now = app.clock.now();
  const delayMs = Math.min(Math.max(now - createdAt, FIRST_DELAY_MS), maxDelayMs(row));
  return postponed(reason, now + spread(app, delayMs), now);
}

function postponed(reason: string, dueAt: number, now: number): Attempted {
  return { outcome: 'postponed', set: { lastError: reason, lastErrorAt: now }, dueAt };
}

/** @throws AcmeError when the authority cannot be asked, or does not have the profile of the configuration */
async function requireProfile({ authority, config }: AttemptApp): Promise<void> {
  const { profiles } = await authority.directory();
  const { profile } = config.acme;
  if (profile === '' || profiles.includes(profile)) return;
  throw new AcmeError(
    'profile',
    `the authority has no profile ${profile}, but ${profiles.join(', ') || 'none'}: change acme.profile`,
  );
}

/**
 * Returns the ways that may prove a name now.
 * @throws AcmeError when there is none, so that no order is begun that can only fail
 */
async function findSolvers(
  { solvers }: AttemptApp,
  { name, orderUrl }: AcmeCertificateRow,
  account: Account,
): Promise<Solver[]> {
  const usable: Solver[] = [];
  const obstacles: string[] = [];
  for (const solver of solvers) {
    const obstacle = await solver.findObstacle(name, account);
    if (obstacle === undefined) usable.push(solver);
    else obstacles.push(`${solver.type}: ${obstacle}`);
  }
  // An order that was begun may have been proven already.
  if (usable.length > 0 || orderUrl !== null) return usable;
  throw new AcmeError(
    'noWay',
    `nothing is ordered, because the name cannot be proven (${obstacles.join('; ')})`,
  );
}

type Issue = {
  row: AcmeCertificateRow;
  present: Certificate | undefined;
  account: Account;
  solvers: readonly Solver[];
  signal: AbortSignal;
};

async function issue(app: AttemptApp, { row, present, account, solvers, signal }: Issue): Promise<Attempted> {
  const { authority, config, db } = app;
  const { name } = row;
  const { renewalInfo } = await authority.directory();
  const { profile } = config.acme;
  const keySealed = await keyForOrder(app, row);
  const keyPem = openCertificateKey(app, row, keySealed);
  const certificate = await orderCertificate(
    { ...app, account },
    {
      name,
      keyPem,
      profile,
      signal,
      orderUrl: row.orderUrl,
      replaces: present && renewalInfo !== undefined ? await replacedId(present.chain) : undefined,
      solvers: rotate(solvers, row.failures),
      keepUrl: (orderUrl) => db.commit(keepOrderUrl, { name, orderUrl }),
    },
  );
  const renewAt = Math.max(renewalTime(certificate, app.random()), app.clock.now() + MIN_RENEWAL_MS);
  app.log.info({ ...logFields(certificate), renewAt: new Date(renewAt).toISOString() }, 'certificate issued');
  return {
    outcome: 'issued',
    set: {
      chain: certificate.chain,
      privateKeySealed: keySealed,
      nextKeySealed: null,
      orderUrl: null,
      issuedAt: app.clock.now(),
      renewAt,
      failures: 0,
      lastError: null,
      lastErrorAt: null,
    },
    // The renewal information is asked for right after the issue (RFC 9773 section 4.3).
    dueAt: app.clock.now(),
  };
}

/** Returns the sealed key of the next certificate: the present one, unless a renewal is to have a new one. */
async function keyForOrder(app: AttemptApp, row: AcmeCertificateRow): Promise<string> {
  const isUsable = (sealed: string) => tryOpenCertificateKey(app, row, sealed) !== undefined;
  if (row.nextKeySealed !== null && isUsable(row.nextKeySealed)) return row.nextKeySealed;
  const keepsKey = row.nextKeySealed === null && (app.config.acme.reuseKeys || row.chain === null);
  if (keepsKey && isUsable(row.privateKeySealed)) return row.privateKeySealed;
  const nextKeySealed = await sealCertificateKey(app, row);
  await app.db.commit(setNextKey, { name: row.name, nextKeySealed });
  return nextKeySealed;
}

async function replacedId(chain: string): Promise<string | undefined> {
  const { certificateIdOf } = await import('./certificate-id.ts');
  return certificateIdOf(chain);
}

/** Returns the ways in another order after each failure: a port that a firewall closes does not end all attempts. */
function rotate<Item>(items: readonly Item[], times: number): Item[] {
  const start = times % Math.max(items.length, 1);
  return [...items.slice(start), ...items.slice(0, start)];
}

async function settleFailure(app: AttemptApp, row: AcmeCertificateRow, error: AcmeError): Promise<Attempted> {
  const now = app.clock.now();
  if (error.type === 'accountDoesNotExist') await forgetAccount(app, row.directory);
  if (error.type === 'rateLimited')
    app.pause.until = now + Math.min(Math.max(error.retryAfterMs ?? 0, MIN_PAUSE_MS), MAX_PAUSE_MS);
  const failures = row.failures + 1;
  const dueAt =
    now + Math.max(delayAfter(app, row, failures), Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  const { name, tenantId } = row;
  app.log.warn(
    { name, tenantId, error: error.message, failures, nextAttemptAt: new Date(dueAt).toISOString() },
    'certificate could not be ordered',
  );
  // An authority that answers an order with nothing but failures for hours is asked for another one.
  const isOpen = PASSING_ERRORS.includes(error.type) && failures % MAX_CONTINUATIONS !== 0;
  return {
    outcome: 'failed',
    set: { failures, lastError: error.message, lastErrorAt: now, ...(!isOpen && { orderUrl: null }) },
    dueAt,
  };
}

function delayAfter(app: Pick<App, 'random'>, row: AcmeCertificateRow, failures: number): number {
  return spread(app, Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), maxDelayMs(row)));
}

function maxDelayMs({ tenantId }: Pick<AcmeCertificateRow, 'tenantId'>): number {
  return tenantId === null ? MAX_OPERATOR_DELAY_MS : MAX_TENANT_DELAY_MS;
}

/** A tenth of a delay is left to chance, so that names that failed together do not return together. */
function spread({ random }: Pick<App, 'random'>, delayMs: number): number {
  return Math.round(delayMs * (0.95 + random() / 10));
}
