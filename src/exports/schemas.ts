/** Schemas of exports. */
import { type Static, Type } from 'typebox';
import type { ExportRow } from '../db/marketing-tables.ts';
import { jobKind, jobStatus, showTime } from '../imports/schemas.ts';
import { isoTime } from '../system/clock.ts';

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const exportSchema = Type.Object(
  {
    id: Type.String(),
    kind: jobKind,
    audienceId: nullable('Whose contacts; null for suppressions.'),
    status: jobStatus,
    error: nullable('Why there is no file.'),
    sizeBytes: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Of the file; null until it is there.',
    }),
    rows: Type.Integer({ description: 'In the file, without the heading line; 0 until it is there.' }),
    createdAt: Type.String(),
    startedAt: nullable('Null while it waits.'),
    finishedAt: nullable(
      'Null until it has completed or failed; it is kept for 7 days from then on, or until it is deleted.',
    ),
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
  description: 'Accepted; the file is written afterwards',
};

/** Returns an export as the API shows it. */
export function showExport(row: ExportRow): Static<typeof exportSchema> {
  const { id, kind, audienceId, status, error, sizeBytes, rows } = row;
  return {
    id,
    kind,
    audienceId,
    status,
    error,
    sizeBytes,
    rows,
    createdAt: isoTime(row.createdAt),
    startedAt: showTime(row.startedAt),
    finishedAt: showTime(row.finishedAt),
  };
}
