/**
 * The pace of a broadcast: how many copies may be made now, and when the next one. It is the generic cell rate algorithm
 * (ITU-T I.371): one stored time, `nextCopyAt`, says when the next copy is due if all copies are spread evenly. It is
 * stored in the write that makes copies, so it survives restarts, and no two threads count separately.
 */
import { readTimeAhead } from '../emails/request/schedule.ts';
import { DAY_MS, isoTime, parseTimestamp } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';

/** A pace as a request names it. Exactly one field is set. */
export type Pace = {
  perHour?: number;
  perDay?: number;
  /** Time at which the last copy is made, in ISO 8601. */
  finishBy?: string;
};

const HOUR_MS = 3_600_000;
/**
 * Copies that would be due within this time are made together, in milliseconds, so that a fast pace needs few writes. It
 * is also the most that a pace makes up for after a pause.
 */
const BURST_MS = 1_000;

/**
 * Returns the pace that a request names.
 * @throws AppError validation_error naming `pace` or its field
 */
export function readPace({ perHour, perDay, finishBy }: Pace, now: number): Pace {
  const given = [perHour, perDay, finishBy].filter((one) => one !== undefined);
  if (given.length !== 1)
    throw invalid('pace', '`pace` must have exactly one of `perHour`, `perDay` and `finishBy`');
  if (perHour !== undefined) return { perHour };
  if (perDay !== undefined) return { perDay };
  const at = readTimeAhead('pace.finishBy', finishBy ?? '', now);
  if (at <= now) throw invalid('pace.finishBy', '`pace.finishBy` must be in the future');
  return { finishBy: isoTime(at) };
}

type Moment = {
  pace: Pace | null;
  /** Time at which the next copy is due; null before the first one. */
  nextCopyAt: number | null;
  now: number;
  /** Contacts whose copy is not made yet. */
  waiting: number;
  /** Maximum number of copies that are made together. */
  limit: number;
};

type PacedCopies = {
  /** Number of copies that may be made now. */
  copies: number;
  /** Time at which the next copy is due after these; null without a pace. */
  nextCopyAt: number | null;
};

/**
 * Returns how many copies may be made now. When it is none, `nextCopyAt` says when to ask again. The wall clock may have
 * jumped: after a jump ahead no more copies are made at once than in `BURST_MS`, and after a jump back the next copy is due
 * one interval later at most.
 */
export function planCopies({ pace, nextCopyAt, now, waiting, limit }: Moment): PacedCopies {
  const wanted = Math.min(waiting, limit);
  const intervalMs = pace === null ? 0 : intervalOf(pace, { now, waiting });
  if (pace === null || intervalMs === 0) return { copies: wanted, nextCopyAt: pace === null ? null : now };
  const dueAt = Math.min(Math.max(nextCopyAt ?? now, now - BURST_MS), now + Math.ceil(intervalMs));
  if (dueAt > now) return { copies: 0, nextCopyAt: dueAt };
  const copies = Math.min(wanted, Math.floor((now - dueAt) / intervalMs) + 1);
  // The time is stored in whole milliseconds. It is rounded up, so that the pace is never exceeded.
  return { copies, nextCopyAt: Math.ceil(dueAt + copies * intervalMs) };
}

/** Returns the time between two copies in milliseconds, not always a whole number; 0 means without a limit. */
function intervalOf(
  { perHour, perDay, finishBy }: Pace,
  { now, waiting }: Pick<Moment, 'now' | 'waiting'>,
): number {
  if (perHour !== undefined) return HOUR_MS / perHour;
  if (perDay !== undefined) return DAY_MS / perDay;
  const leftMs = (parseTimestamp(finishBy ?? '') ?? now) - now;
  return Math.max(0, leftMs) / Math.max(1, waiting);
}
