/** Schemas of exports. */
import { type Static, Type } from 'typebox';
import type { JobRow } from '../db/marketing-tables.ts';
import { jobKind, jobStatus, jobTimes, nullableText, showTimes } from '../jobs/schemas.ts';

export const exportSchema = Type.Object(
  {
    id: Type.String(),
    kind: jobKind,
    audienceId: nullableText('Audience whose contacts are exported; null for other kinds.'),
    status: jobStatus,
    error: nullableText('Reason why the export failed.'),
    sizeBytes: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Size of the file in bytes; null until it exists.',
    }),
    rows: Type.Integer({
      description: 'Number of rows in the file without the heading line; 0 until it exists.',
    }),
    ...jobTimes,
  },
  {
    title: 'Export',
    examples: [
      {
        id: 'exp_01khq3z5vgxw1r8t6n2m4c9b7d',
        kind: 'contacts',
        audienceId: 'aud_01khq3z5vgxw1r8t6n2m4c9b7d',
        status: 'completed',
        error: null,
        sizeBytes: 8_412_034,
        rows: 100_000,
        createdAt: '2026-03-01T09:00:00.000Z',
        startedAt: '2026-03-01T09:00:00.120Z',
        finishedAt: '2026-03-01T09:00:03.480Z',
      },
    ],
  },
);

/** Schema of the routes that request a file. */
export const acceptedExportSchema = {
  ...exportSchema,
  description: 'Accepted: the file is written afterwards',
};

/** Returns an export as the API shows it. */
export function showExport(job: JobRow): Static<typeof exportSchema> {
  const { id, kind, audienceId, status, error, sizeBytes, rows } = job;
  return { id, kind, audienceId, status, error, sizeBytes, rows, ...showTimes(job) };
}
