/**
 * A check looks at one thing that an operator has to keep right, and says what it found and what to do. Checks read and ask; they
 * change nothing. `checks.ts` lists them all.
 */
import type { App } from '../app.ts';
import type { CertificateAdmin } from '../certificates/certificates.ts';
import type { MoreRecords } from '../domains/operator-records.ts';
import type { Standby } from '../standby/standby.ts';

export type Level = 'ok' | 'warn' | 'fail';

export type Finding = {
  check: string;
  /** Name or address that the finding is about. A check has at most one finding for it. */
  subject: string;
  level: Level;
  /** The finding in one sentence, without its final stop. */
  says: string;
  /** Advice to the operator; it is empty when all is well. */
  advice: string;
};

/** The parts of the program that checks may look at. */
export type CheckApp = Pick<
  App,
  | 'config'
  | 'dns'
  | 'dial'
  | 'egress'
  | 'targets'
  | 'random'
  | 'clock'
  | 'clockWatch'
  | 'statDisk'
  | 'machine'
  | 'probeTls'
  | 'db'
  | 'sealer'
> & {
  certificates: Pick<CertificateAdmin, 'list'>;
  moreRecords: readonly MoreRecords[];
  standby: Pick<Standby, 'progress'>;
  /** Returns the resolvers that are asked, as `address` or `address:port`. */
  resolvers(): readonly string[];
};

export type CheckContext = CheckApp & {
  /** Returns the public addresses of this machine, which are looked up once; none when DNS does not answer. */
  addresses(): Promise<readonly string[]>;
};

export type Check = {
  name: string;
  /** True for a check that says nothing useful about a development installation, which has no public name. */
  isForProduction?: true;
  run(context: CheckContext): Promise<Finding[]>;
};

/** Maximum number of findings of one check that are not `ok`. Others are summed up in one more. */
const MAX_FINDINGS = 20;

/** Returns functions that make the findings of a check. */
export function findingsOf(check: string) {
  const finding =
    (level: Level) =>
    (subject: string, says: string, advice: string): Finding => {
      return { check, subject, level, says, advice };
    };
  return {
    ok: (subject: string, says: string): Finding => finding('ok')(subject, says, ''),
    warn: finding('warn'),
    fail: finding('fail'),
  };
}

/** Returns at most `MAX_FINDINGS` findings, the worst first, and one that says how many more there are. */
export function boundFindings(findings: readonly Finding[]): Finding[] {
  const sorted = findings.toSorted((one, other) => rankOf(other.level) - rankOf(one.level));
  const [first] = sorted;
  const left = sorted.length - MAX_FINDINGS;
  if (first === undefined || left <= 0) return sorted;
  const { check, level } = first;
  const rest = {
    check,
    subject: 'others',
    level,
    says: `${left} more like these`,
    advice: 'see to these first',
  };
  return [...sorted.slice(0, MAX_FINDINGS), rest];
}

/** Returns the worst level of findings. */
export function worstOf(findings: readonly Pick<Finding, 'level'>[]): Level {
  const levels = findings.map(({ level }) => level);
  return levels.includes('fail') ? 'fail' : levels.includes('warn') ? 'warn' : 'ok';
}

function rankOf(level: Level): number {
  return { ok: 0, warn: 1, fail: 2 }[level];
}
