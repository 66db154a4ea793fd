/**
 * `GET /healthz`: 200 while the daemon can do its work, 503 with the reasons while it cannot. It tells load balancers and
 * monitors, without a key, and names nothing of any tenant.
 */
import type { FastifyInstance } from 'fastify';

/** What keeps the daemon from its work, and how it is said to people. */
const REASONS = {
  writer_behind: 'Writes wait for the disk much longer than usual.',
  writer_silent: 'The thread that writes the database has not answered for a long time.',
  reader_silent: 'A thread that reads the database has not answered for a long time.',
  disk_full: 'The disk is full, or a disk quota is used up. Free some space.',
  disk_below_reserve:
    'Free disk space is below storage.reserveMegabytes: nothing new is accepted, and delivery goes on. Free some space.',
} as const;

/** What an operator should know although everything works. */
const WARNINGS = {
  clock_behind:
    'The clock of this machine is behind the time it showed before. Check its time synchronization.',
} as const;

type Reason = keyof typeof REASONS;
type Warning = keyof typeof WARNINGS;
export type Health = { reasons: readonly Reason[]; warnings: readonly Warning[] };

/** Requests are shed long before (http/shed.ts); so long a delay is not load but a disk that hardly works. Ours. */
export const MAX_WRITER_LAG_MS = 10_000;
/** No single write or slice of a read takes a second; a busy machine may stretch it tenfold. Ours. */
export const MAX_SILENCE_MS = 30_000;

export type VitalSigns = {
  /** How long the oldest write that is not durable yet has waited. */
  writerLagMs: number;
  /** How long a thread that has work to do has answered nothing. */
  writerSilentMs: number;
  readerSilentMs: number;
  isDiskFull: boolean;
  isDiskBelowReserve: boolean;
  /** How far the wall clock is behind the latest time it has shown. 0 when it is not. */
  clockBehindMs: number;
};

export function judgeHealth(signs: VitalSigns): Health {
  const reasons: readonly (Reason | false)[] = [
    signs.writerLagMs > MAX_WRITER_LAG_MS && 'writer_behind',
    signs.writerSilentMs > MAX_SILENCE_MS && 'writer_silent',
    signs.readerSilentMs > MAX_SILENCE_MS && 'reader_silent',
    signs.isDiskFull && 'disk_full',
    signs.isDiskBelowReserve && 'disk_below_reserve',
  ];
  return {
    reasons: reasons.filter((reason) => reason !== false),
    warnings: signs.clockBehindMs > 0 ? ['clock_behind'] : [],
  };
}

export function serveHealth(server: FastifyInstance, version: string, readSigns: () => VitalSigns): void {
  server.get('/healthz', { schema: { hide: true } }, async (_request, reply) => {
    const { reasons, warnings } = judgeHealth(readSigns());
    const warned = warnings.length > 0 ? { warnings } : {};
    const sentences = [...reasons.map((name) => REASONS[name]), ...warnings.map((name) => WARNINGS[name])];
    const message = sentences.length > 0 ? { message: sentences.join(' ') } : {};
    if (reasons.length === 0) return { status: 'ok', version, ...warned, ...message };
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return reply.code(503).send({ status: 'unavailable', version, reasons, ...warned, ...message });
  });
}

const RETRY_AFTER_SECONDS = 10;
