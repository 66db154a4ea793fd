/** The parts that the schemas of imports and of exports have in common. */
import { Type } from 'typebox';
import type { JobRow } from '../db/marketing-tables.ts';
import { isoTime } from '../system/clock.ts';

const STATUSES = ['waiting', 'queued', 'running', 'completed', 'failed'] as const;
export const jobStatus = Type.Enum([...STATUSES], {
  description: '`waiting`: an import that begins when it is started, and is given up after a day.',
});
export const jobKind = Type.Enum(['contacts', 'suppressions', 'recipients', 'links'], {
  description: 'Kind of the rows. `recipients` and `links` are those of a broadcast, and are only exported.',
});

/** Filters of the lists of jobs. */
export const jobFilter = {
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Only jobs with this status.' })),
  kind: Type.Optional(jobKind),
  audienceId: Type.Optional(Type.String({ description: 'Only jobs for the contacts of this audience.' })),
};

/** Returns the schema of a text that may be null. */
export const nullableText = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description });

/** Schema of the times of a job. */
export const jobTimes = {
  createdAt: Type.String(),
  startedAt: nullableText('Time at which the job began to run; null while it is queued.'),
  finishedAt: nullableText(
    'Time at which the job ended; null before that. The job is then kept for 7 days, unless it is deleted earlier.',
  ),
};

/** Returns the times of a job as the API shows them. */
export function showTimes({ createdAt, startedAt, finishedAt }: JobRow) {
  return {
    createdAt: isoTime(createdAt),
    startedAt: startedAt === null ? null : isoTime(startedAt),
    finishedAt: finishedAt === null ? null : isoTime(finishedAt),
  };
}
