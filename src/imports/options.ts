/** Options of an import that describe the format of its file. The request gives them, and the job stores them. */
import type { JobRow } from '../db/marketing-tables.ts';
import type { FileEncoding } from './encoding.ts';
import { type Mapping, readMapping } from './mapping.ts';

/** Absent values are found out from the file itself. Jobs of earlier versions have none. */
export type FileOptions = {
  encoding?: FileEncoding;
  mapping?: Mapping;
  /** True for an import that waits to be started. Its task comes when it is given up. */
  waits?: boolean;
};

/**
 * Reads the options from the parameters of a request.
 * @throws AppError validation_error naming `mapping`
 */
export function readFileParameters(
  { mapping: text, encoding }: { mapping?: string; encoding?: FileEncoding },
  isField: (field: string) => boolean,
  fields: string,
): FileOptions {
  const mapping = readMapping(text, isField, fields);
  return { ...(mapping && { mapping }), ...(encoding && { encoding }) };
}

/** Returns the format of the file of a job. */
export function readFileOptions({ options }: Pick<JobRow, 'options'>): FileOptions {
  return JSON.parse(options) as FileOptions;
}
