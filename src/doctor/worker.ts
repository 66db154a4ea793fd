/**
 * The hourly run in a production daemon whose operator has an address: it logs what has turned, shows its findings as metrics and
 * tells the operator by mail. In any other daemon nothing is looked up or dialled unless somebody asks for it.
 */
import type { App } from '../app.ts';
import { parseMailbox } from '../mail/address.ts';
import { buildOwnMail } from '../mailbox-delivery/forward/own-mail.ts';
import { newId } from '../system/ids.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { CheckApp, Finding, Level } from './check.ts';
import { CHECKS } from './checks.ts';
import { examine } from './examine.ts';
import { composeReport, findingsToReport } from './report.ts';
import { listCheckStates, listFindings, queueReport, recordFindings, type Turn } from './store.ts';

const PERIOD_MS = 3_600_000;

type DoctorApp = App & CheckApp;

/**
 * Returns true while a new installation has made no run. Its records can be published only once somebody has seen them, and whoever looks them
 * up earlier makes resolvers remember that they are missing (RFC 2308).
 */
async function isBeingSetUp({ db, clock }: Pick<App, 'db' | 'clock'>, startedAt: number): Promise<boolean> {
  if (clock.elapsed() - startedAt >= PERIOD_MS) return false;
  return (await listCheckStates(db.read)).every(({ ranAt }) => ranAt === null);
}

/**
 * Returns the hourly run, whose first one in a new installation is an hour after the start. Nothing is due while there is no address to
 * report to, and nothing ever in development, because the daemon does not look at the outside by itself then.
 */
export function createDoctorWork(app: DoctorApp): Work<'run'> {
  const nothing = { items: [], nextDueAt: undefined };
  // Metrics of checks that do not run would look as if they were overdue.
  let shown: ReturnType<typeof createMetrics> | undefined;
  const show = () => {
    shown ??= createMetrics(app);
    return shown;
  };
  const startedAt = app.clock.elapsed();
  const hourly = periodic(app.clock, {
    name: 'doctor',
    periodMs: PERIOD_MS,
    async run() {
      if (await isBeingSetUp(app, startedAt)) return;
      const { findings, complete: checks } = await examine(app);
      show()(findings);
      const now = app.clock.now();
      for (const turn of await app.db.commit(recordFindings, { checks, findings, now })) logTurn(app, turn);
      await tellOperator(app);
    },
  });
  return {
    ...hourly,
    async lease(limit) {
      if (app.config.development || app.config.operator.email === '') return nothing;
      show();
      return hourly.lease(limit);
    },
  };
}

/** Adds the metrics, and returns the function that sets them. */
function createMetrics({ metrics, clock }: DoctorApp): (findings: readonly Finding[]) => void {
  let last: { findings: readonly Finding[]; at: number } | undefined;
  metrics.gauges('doctor_findings', 'Findings of the last run of the checks that are not well.', {
    labels: ['check', 'level'],
    read: () => (last === undefined ? [] : countFindings(last.findings)),
  });
  metrics.gauge(
    'doctor_last_run_timestamp_seconds',
    'Time of the last run of the checks; 0 before the first.',
    () => (last?.at ?? 0) / 1_000,
  );
  return (findings) => {
    last = { findings, at: clock.now() };
  };
}

function countFindings(findings: readonly Finding[]) {
  return CHECKS.flatMap(({ name: check }) =>
    (['warn', 'fail'] as const).map((level) => ({
      labels: { check, level },
      value: findings.filter((finding) => finding.check === check && finding.level === level).length,
    })),
  );
}

const TURNED: Readonly<Record<Level, string>> = {
  ok: 'a check is well again',
  warn: 'a check warns',
  fail: 'a check has failed',
};

function logTurn({ log }: Pick<App, 'log'>, { finding, before }: Turn): void {
  const { check, subject, level, says, advice } = finding;
  const fields = { check, subject, before, says, advice };
  if (level === 'ok') log.info(fields, TURNED[level]);
  else if (level === 'warn') log.warn(fields, TURNED[level]);
  else log.error(fields, TURNED[level]);
}

/** Queues a mail about the findings that are due for one. */
async function tellOperator(app: DoctorApp): Promise<void> {
  const to = parseMailbox(app.config.operator.email);
  const now = app.clock.now();
  const [findings, states] = await Promise.all([listFindings(app.db.read), listCheckStates(app.db.read)]);
  const due = findingsToReport({ findings, states, now });
  if (!to || due.length === 0) return;
  const id = newId('em', now);
  const composed = composeReport({ id, hostname: app.config.hostname.toLowerCase(), to, findings: due });
  const mail = await buildOwnMail(app, { id, ...composed, to: [to.address] });
  const checks = [...new Set(due.map(({ checkName }) => checkName))];
  await app.db.commit(queueReport, { mail, checks, now });
  app.wakeups.notify('queue');
}
