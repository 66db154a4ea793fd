/** Runs checks at the same time, each within a time limit, so that one that hangs keeps no other from its findings. */

import { findAddresses } from '../domains/operator-records.ts';
import { TimeoutError, withTimeout } from '../system/clock.ts';
import { isHostName, isLocalName } from '../system/dns.ts';
import { AppError } from '../system/errors.ts';
import type { Log } from '../system/log.ts';
import {
  boundFindings,
  type Check,
  type CheckApp,
  type CheckContext,
  type Finding,
  findingsOf,
} from './check.ts';
import { checkDomainsNamed } from './checks/domains.ts';
import { CHECKS } from './checks.ts';

/** Maximum time of a check, in milliseconds, so that the command with all of them takes less than five seconds. */
const CHECK_TIMEOUT_MS = 3_600;

type Examination = {
  findings: Finding[];
  /** Names of the checks that were carried out to their end. */
  complete: string[];
};

/** Runs all checks, or the one with the name. */
export async function examine(
  app: CheckApp & { log: Pick<Log, 'error'> },
  only?: string,
): Promise<Examination> {
  const context = contextOf(app);
  const { hostname } = app.config;
  const isLocal = only === undefined && isLocalName(hostname);
  const checks = CHECKS.filter(
    ({ name, isForProduction = false }) => (only ?? name) === name && !(isLocal && isForProduction),
  );
  const results = await Promise.all(checks.map((check) => runCheck(app, context, check)));
  return {
    findings: [...(isLocal ? [localFinding(hostname)] : []), ...results.flatMap(({ findings }) => findings)],
    complete: checks.flatMap(({ name }, index) => (results[index]?.isComplete ? [name] : [])),
  };
}

/** Nobody outside knows a name such as `localhost`, so what others see of this machine cannot be right or wrong. */
function localFinding(hostname: string): Finding {
  const says =
    'this is a development installation, so DNS, port 25, blocklists, certificates, pages and backups are not checked';
  return findingsOf('installation').ok(hostname, says);
}

/**
 * Asks DNS for the records of one domain, of every tenant that has it.
 * @throws AppError not_found
 */
export async function examineDomain(app: CheckApp, name: string): Promise<Finding[]> {
  const asked = name.toLowerCase().replace(/\.$/, '');
  const findings = isHostName(asked) ? await checkDomainsNamed(contextOf(app), asked) : [];
  if (findings.length === 0) throw new AppError('not_found', `No tenant has the domain ${name}`);
  return findings;
}

/** The addresses are looked up once, by the first check that needs them. */
function contextOf(app: CheckApp): CheckContext {
  let lookUp: Promise<readonly string[]> | undefined;
  return {
    ...app,
    addresses: () => {
      lookUp ??= findAddresses(app.dns.fresh, app.config);
      return lookUp;
    },
  };
}

type Result = { isComplete: boolean; findings: Finding[] };

async function runCheck(
  { log }: { log: Pick<Log, 'error'> },
  context: CheckContext,
  { name, run }: Check,
): Promise<Result> {
  const { warn } = findingsOf(name);
  try {
    const limit = { timeoutMs: CHECK_TIMEOUT_MS, what: 'the check' };
    return {
      isComplete: true,
      findings: boundFindings(await withTimeout(context.clock, run(context), limit)),
    };
  } catch (error) {
    const isLate = error instanceof TimeoutError;
    if (!isLate) log.error({ check: name, err: error }, 'a check could not be carried out');
    const says = isLate
      ? `no result within ${CHECK_TIMEOUT_MS / 1_000} seconds`
      : 'the check has an error itself';
    const advice = isLate ? 'see to DNS first' : 'report the bug with the error in the log';
    return { isComplete: false, findings: [warn(name, says, advice)] };
  }
}
