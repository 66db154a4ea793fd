/** Schemas of imports. */
import { type Static, Type } from 'typebox';
import type { JobRow } from '../db/marketing-tables.ts';
import { jobKind, jobStatus, jobTimes, nullableText, showTimes } from '../jobs/schemas.ts';
import { readProgress } from './progress.ts';

export const importSchema = Type.Object(
  {
    id: Type.String(),
    kind: jobKind,
    audienceId: nullableText('Audience that the contacts are added to; null for suppressions.'),
    status: jobStatus,
    error: nullableText('Reason why the import failed. Rows that were imported before the failure stay.'),
    sizeBytes: Type.Integer({ description: 'Size of the file in bytes.' }),
    processedBytes: Type.Integer({ description: 'Number of bytes that were read so far.' }),
    rows: Type.Integer({
      description:
        'Number of rows that were read so far, without the heading and blank lines. It is the sum of the next four.',
    }),
    created: Type.Integer(),
    updated: Type.Integer(),
    skipped: Type.Integer({ description: 'Number of rows that changed nothing.' }),
    failed: Type.Integer({ description: 'Number of rows that were refused; `/errors` says why.' }),
    ...jobTimes,
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
  description: 'Accepted: the file is on disk, and its rows are imported afterwards',
};

/** Returns an import as the API shows it. */
export function showImport(job: JobRow): Static<typeof importSchema> {
  const { id, kind, audienceId, status, error, sizeBytes, rows } = job;
  const { processedBytes, ...counts } = readProgress(job);
  return {
    id,
    kind,
    audienceId,
    status,
    error,
    sizeBytes: sizeBytes ?? 0,
    processedBytes,
    rows,
    ...counts,
    ...showTimes(job),
  };
}
