/** Schemas of imports (api.md 1.6 and 1.7: files of contacts and of suppressions). */
import { type Static, Type } from 'typebox';
import type { ImportRow } from '../db/marketing-tables.ts';
import { isoTime } from '../system/clock.ts';

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export const jobStatus = Type.Enum([...STATUSES]);
export const jobKind = Type.Enum(['contacts', 'suppressions'], { description: 'What the rows are.' });

/** Filters of the lists of jobs. */
export const jobFilter = {
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Jobs that stand so.' })),
  kind: Type.Optional(jobKind),
  audienceId: Type.Optional(Type.String({ description: 'Of the contacts of this audience.' })),
};

export const importSchema = Type.Object(
  {
    id: Type.String(),
    kind: jobKind,
    audienceId: nullable('Where contacts go; null for suppressions.'),
    status: jobStatus,
    error: nullable('Why the file was not read to its end. Rows that were taken before stay.'),
    sizeBytes: Type.Integer({ description: 'Of the file.' }),
    processedBytes: Type.Integer({ description: 'How far the file is read; all of it once completed.' }),
    rows: Type.Integer({
      description: 'Read so far, without the heading line and blank ones: the sum of the next four.',
    }),
    created: Type.Integer(),
    updated: Type.Integer(),
    skipped: Type.Integer({ description: 'There already, and with nothing to change.' }),
    failed: Type.Integer({ description: 'Not taken; what was wrong with them is in `/errors`.' }),
    createdAt: Type.String(),
    startedAt: nullable('Null while it waits.'),
    finishedAt: nullable(
      'Null until it has completed or failed; it is kept for 7 days from then on, or until it is deleted.',
    ),
  },
  {
    title: 'Import',
    examples: [
      {
        id: 'imp_01khq3z5vgxw1r8t6n2m4c9b7d',
        kind: 'contacts',
        audienceId: 'aud_01khq3z5vgxw1r8t6n2m4c9b7d',
        status: 'running',
        error: null,
        sizeBytes: 8_412_034,
        processedBytes: 4_194_304,
        rows: 49_500,
        created: 48_100,
        updated: 1_200,
        skipped: 180,
        failed: 20,
        createdAt: '2026-03-01T09:00:00.000Z',
        startedAt: '2026-03-01T09:00:00.120Z',
        finishedAt: null,
      },
    ],
  },
);

/** Schema of the routes that accept a file. */
export const acceptedImportSchema = {
  ...importSchema,
  description: 'Accepted; the file is on disk, and its rows are taken in afterwards',
};

/** Returns an import as the API shows it. */
export function showImport(row: ImportRow): Static<typeof importSchema> {
  const { id, kind, audienceId, status, error, sizeBytes, processedBytes } = row;
  const { rows, created, updated, skipped, failed } = row;
  return {
    id,
    kind,
    audienceId,
    status,
    error,
    sizeBytes,
    processedBytes,
    rows,
    created,
    updated,
    skipped,
    failed,
    createdAt: isoTime(row.createdAt),
    startedAt: showTime(row.startedAt),
    finishedAt: showTime(row.finishedAt),
  };
}

/** Returns the time in ISO 8601; null for null. */
export function showTime(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
