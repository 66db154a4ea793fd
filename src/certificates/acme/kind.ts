/**
 * The orders of certificates as a kind of task, whose references are names. Names of a tenant share a queue, in which one
 * order runs at a time; those of the operator have their own.
 */
import type { App } from '../../app.ts';
import { createZoneTexts, type TextPlace } from '../../nameserver/texts.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import { completeTask, retryTask } from '../../tasks/store.ts';
import { attemptOrder } from './attempt.ts';
import { Authority } from './authority.ts';
import type { OfferedChallenges } from './challenges.ts';
import { createDnsSolver } from './dns-solver.ts';
import { createPersistentRecordSolver } from './persistent-record.ts';
import { createAlpnSolver, createHttpSolver, type Solver } from './solver.ts';
import { CERTIFICATE_ORDERS, findCertificate, settleOrder } from './store.ts';

/** Maximum number of orders at the same time. Each mostly waits for the authority. */
const CONCURRENCY = 4;
/** Delay after an attempt that a bug ended, and between looks while no authority is configured, in milliseconds. */
const RETRY_MS = 3_600_000;

type KindApp = App & {
  certificates: { challenges: OfferedChallenges };
  nameServer: TextPlace;
  dnsUpdates: TextPlace;
};

/** Returns the kind. While no authority is configured, its tasks wait. */
export function createOrderKind(app: KindApp): TaskKind {
  const { clock, config, db, metrics } = app;
  const context = {
    ...app,
    authority: new Authority(app, config.acme.directory),
    solvers: createSolvers(app),
    pause: { until: 0 },
  };
  const orders = metrics.counter('certificate_orders_total', 'Attempts to order a certificate.', ['outcome']);
  return {
    name: CERTIFICATE_ORDERS,
    leavesHost: true,
    concurrency: CONCURRENCY,
    concurrencyPerQueue: 1,
    backOff: () => RETRY_MS,
    async run(task) {
      const lease = leaseOf(task);
      const row = await findCertificate(db.read, task.reference);
      if (!row) return db.commit(completeTask, lease);
      if (config.acme.directory === '')
        return db.commit(retryTask, { lease, dueAt: clock.now() + RETRY_MS, attempts: 0 });
      const { outcome, set, dueAt } = await attemptOrder(context, row, task.signal);
      orders.inc({ outcome });
      return db.commit(settleOrder, { lease, set: { ...set, nextAttemptAt: dueAt }, dueAt });
    },
  };
}

/** Returns the ways to prove names that the configuration lists, in its order. */
function createSolvers(app: KindApp): Solver[] {
  const { challenges } = app.certificates;
  const known = [
    createPersistentRecordSolver(app.dns.fresh, app.clock),
    createHttpSolver(challenges, app.config),
    createAlpnSolver(challenges, app.clock, app.config),
    createDnsSolver(app, createZoneTexts(app, [app.nameServer, app.dnsUpdates])),
  ];
  return app.config.acme.challenges.flatMap((type) => known.filter((solver) => solver.type === type));
}
