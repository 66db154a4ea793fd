/**
 * `GET /healthz` answers 200 while the daemon works, and 503 with the reasons while it cannot. It is for load balancers
 * and monitors, needs no key, and reveals nothing about any tenant.
 */
import type { FastifyInstance } from 'fastify';

/** Reasons that keep the daemon from working, with their messages for people. */
const REASONS = {
  writer_behind: 'Writes wait for the disk much longer than usual.',
  writer_silent: 'The thread that writes the database has not answered for a long time.',
  reader_silent: 'A thread that reads the database has not answered for a long time.',
  disk_full: 'The disk is full, or a disk quota is used up. Free some space.',
  disk_below_reserve:
    'Free disk space is below storage.reserveMegabytes: nothing new is accepted, and delivery goes on. Free some space.',
} as const;

/** Warnings for the operator although everything works. */
const WARNINGS = {
  thread_restarting:
    'A thread of the daemon has died and will be started again. The log names it, and the reason; its work is delayed.',
  clock_behind:
    'The clock of this machine is behind the time it showed before. Check its time synchronization.',
  dns_failing: 'DNS gives no answers for the domains of recipients. Check dns.servers and the network.',
  nothing_delivered:
    'Attempts to deliver mail have all failed for a quarter of an hour. Check the network and port 25; "postrider queue stats" shows what waits.',
  mail_overdue:
    'Mail has been due for more than a quarter of an hour. "postrider queue stats" shows what waits.',
} as const;

type Reason = keyof typeof REASONS;
type Warning = keyof typeof WARNINGS;
type Health = { reasons: readonly Reason[]; warnings: readonly Warning[] };

/**
 * Maximum age of the oldest waiting write. Requests are shed long before (system/guards/overload.ts), so such a delay is not caused
 * by load but by a disk that hardly works.
 */
export const MAX_WRITER_LAG_MS = 10_000;
/**
 * Maximum time without an answer from a busy thread. No single write or slice of a read takes a second; a busy machine
 * may need ten times as long.
 */
export const MAX_SILENCE_MS = 30_000;

/** Maximum time for which mail is due before a warning: a queue that is not too long for the host is tried within minutes. */
export const MAX_OVERDUE_MS = 15 * 60_000;

/** How the delivery of mail goes. */
export type DeliverySigns = {
  /** Time for which the mail that is due longest has been due. */
  oldestDueMs: number;
  /** True when many attempts in a row have delivered nothing. */
  deliversNothing: boolean;
  /** True when DNS gives no answers. */
  failsDns: boolean;
};

export type VitalSigns = DeliverySigns & {
  /** Time for which the oldest write that is not durable yet has waited. */
  writerLagMs: number;
  /** Time for which a thread with work to do has answered nothing. */
  writerSilentMs: number;
  readerSilentMs: number;
  /** False while a thread that has died waits to be started again. */
  doThreadsRun: boolean;
  isDiskFull: boolean;
  isDiskBelowReserve: boolean;
  /** Time by which the wall clock is behind the latest time it has shown; 0 when it is not. */
  clockBehindMs: number;
};

/** Returns the reasons why the daemon cannot work, and the warnings for the operator. */
export function evaluateHealth(signs: VitalSigns): Health {
  const reasons: readonly (Reason | false)[] = [
    signs.writerLagMs > MAX_WRITER_LAG_MS && 'writer_behind',
    signs.writerSilentMs > MAX_SILENCE_MS && 'writer_silent',
    signs.readerSilentMs > MAX_SILENCE_MS && 'reader_silent',
    signs.isDiskFull && 'disk_full',
    signs.isDiskBelowReserve && 'disk_below_reserve',
  ];
  const warnings: readonly (Warning | false)[] = [
    !signs.doThreadsRun && 'thread_restarting',
    signs.clockBehindMs > 0 && 'clock_behind',
    signs.failsDns && 'dns_failing',
    signs.deliversNothing && 'nothing_delivered',
    signs.oldestDueMs > MAX_OVERDUE_MS && 'mail_overdue',
  ];
  return {
    reasons: reasons.filter((reason) => reason !== false),
    warnings: warnings.filter((warning) => warning !== false),
  };
}

/**
 * Serves `GET /healthz`, and `GET /readyz`, which answers 200 while the daemon can take requests: it works, and all of its threads run.
 * `readSigns` must be cheap.
 */
export function serveHealth(server: FastifyInstance, version: string, readSigns: () => VitalSigns): void {
  server.get('/healthz', { schema: { hide: true } }, async (_request, reply) => {
    const { reasons, warnings } = evaluateHealth(readSigns());
    const warned = warnings.length > 0 ? { warnings } : {};
    const sentences = [...reasons.map((name) => REASONS[name]), ...warnings.map((name) => WARNINGS[name])];
    const message = sentences.length > 0 ? { message: sentences.join(' ') } : {};
    if (reasons.length === 0) return { status: 'ok', version, ...warned, ...message };
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return reply.code(503).send({ status: 'unavailable', version, reasons, ...warned, ...message });
  });
  server.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const signs = readSigns();
    if (evaluateHealth(signs).reasons.length === 0 && signs.doThreadsRun) return { status: 'ready' };
    return reply.header('retry-after', RETRY_AFTER_SECONDS).code(503).send({ status: 'not ready' });
  });
}

const RETRY_AFTER_SECONDS = 10;
