/**
 * Waits until the records are published, then has the daemon verify the domain. The name servers of the zone are asked themselves,
 * since a resolver would remember that a record is missing.
 */
import { type Finding, findingsOf } from '../../doctor/check.ts';
import type { OperatorDomain } from '../../domains/admin-api.ts';
import { comparePublished, type RecordValue } from '../../domains/published.ts';
import { sleepInForeground } from '../../system/clock.ts';
import type { ControlClient } from '../control-client.ts';
import type { World } from './network.ts';
import type { Report } from './report.ts';

const { ok, warn, fail } = findingsOf('dns');

/** Maximum time of one look at all records, in milliseconds. */
const LOOK_MS = 20_000;
/** Time between two looks, in milliseconds: at first, and at most. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

type Waiting = {
  control: Pick<ControlClient, 'request'>;
  world: Pick<World, 'authority' | 'clock'>;
  report: Pick<Report, 'say'>;
  waitMs: number;
  /** True when the daemon goes on after this command has ended. */
  isKept: boolean;
};

type Verified = { domain: OperatorDomain; isVerified: boolean; findings: Finding[] };

/** Returns the domain as it is after the wait. */
export async function waitForRecords(
  waiting: Waiting,
  before: OperatorDomain,
  needed: readonly RecordValue[],
): Promise<Verified> {
  const missing = await untilPublished(waiting, needed);
  const own = new Set(before.records.map(({ name, type }) => `${type} ${name}`));
  const lacksOwn = missing.some(({ name, type }) => own.has(`${type} ${name}`));
  const path = `/domains/${before.id}`;
  const domain = lacksOwn
    ? await waiting.control.request<OperatorDomain>('GET', path)
    : await waiting.control.request<OperatorDomain>('POST', `${path}/verify`);
  const isVerified = domain.status === 'verified';
  return { domain, isVerified, findings: [...judge(domain, lacksOwn), ...lacking(missing, needed)] };
}

/** Maximum number of missing records that are named. */
const MAX_NAMED = 3;

function lacking(missing: readonly RecordValue[], needed: readonly RecordValue[]): Finding[] {
  if (missing.length === 0) return [];
  const named = missing.slice(0, MAX_NAMED).map(({ type, name }) => `${type} ${name}`);
  const others = missing.length > MAX_NAMED ? ' and others' : '';
  const says = `${missing.length} of ${needed.length} are not published yet: ${named.join(', ')}${others}`;
  return [warn('records', says, 'publish them as they are printed above, then run this again')];
}

function judge({ name, status, records }: OperatorDomain, lacksOwn: boolean): Finding[] {
  if (status === 'verified') return [ok(name, 'its records are right, so it may send')];
  if (lacksOwn) return [];
  const errors = records.flatMap(({ record, error }) => (error === null ? [] : [`${record}: ${error}`]));
  return [
    fail(
      name,
      `it is not verified (${errors.join('; ')})`,
      `correct the records, then: postrider domain verify ${name}`,
    ),
  ];
}

/** These texts follow "Ctrl-C is fine": a daemon that stays goes on checking, and one that ends with this command does not. */
const KEPT = 'the daemon goes on checking, and the same command goes on here';
const ENDS = 'the same command goes on here';

/** Returns the records that are missing at the end. */
async function untilPublished(
  { world, report, waitMs, isKept }: Waiting,
  needed: readonly RecordValue[],
): Promise<RecordValue[]> {
  const { clock } = world;
  const until = clock.elapsed() + waitMs;
  let pauseMs = MIN_PAUSE_MS;
  for (let seen = -1; ; ) {
    const missing = await findMissing(world, needed);
    if (missing.length === 0 || clock.elapsed() + pauseMs > until) return missing;
    const found = needed.length - missing.length;
    if (found !== seen)
      report.say(
        `...   ${found} of ${needed.length} needed records are published; Ctrl-C is fine, ${isKept ? KEPT : ENDS}`,
      );
    seen = found;
    await sleepInForeground(pauseMs);
    pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
  }
}

/** Returns the records that DNS does not have. One with another value counts as published, and the daemon judges it. */
export async function findMissing(
  { authority, clock }: Waiting['world'],
  needed: readonly RecordValue[],
): Promise<RecordValue[]> {
  const states = await comparePublished(authority, needed, { clock, timeoutMs: LOOK_MS });
  return needed.filter((_, index) => ['missing', 'unknown'].includes(states[index]?.state ?? ''));
}
