/**
 * Shows how a file would be imported, without importing it: its columns, its first rows, and what its owner should know. The time is
 * bounded however long the file is, because only its beginning is read.
 */
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { AppError } from '../system/errors.ts';
import { trimText } from './cells.ts';
import type { WantedImport } from './create.ts';
import { findEncoding } from './encoding.ts';
import type { ImportHandler, RowReader } from './handler.ts';
import { type FileOptions, readFileOptions } from './options.ts';
import { readRecords } from './records.ts';
import { readFirstRecord, readRow } from './run.ts';

/** Maximum number of rows that are checked. */
const MAX_CHECKED_ROWS = 1_000;
/** Maximum number of bytes that are read: less than 100 ms of work, in slices. */
const MAX_READ_BYTES = 1024 * 1024;
/** Maximum number of rows that are shown, and of refused rows. */
const MAX_SHOWN_ROWS = 10;

const shownRow = Type.Object({
  line: Type.Integer({ description: 'Line of the file.' }),
  email: Type.String({ description: 'What stands in the column of the address.' }),
});

/** Returns the schema of a preview. `example` is a row of the list. */
export function previewSchema(title: string, example: object) {
  return Type.Object(
    {
      encoding: Type.String({ description: 'Encoding in which the file would be read.' }),
      hasHeadings: Type.Boolean({
        description: 'False when the first line is a row, because it has an address.',
      }),
      columns: Type.Array(
        Type.Object({
          column: Type.Integer({ description: 'Number of the column, counted from 1.' }),
          heading: Type.String(),
          field: Type.Union([Type.String(), Type.Null()], {
            description: 'Field that the column would have; null for a column that is left out.',
          }),
        }),
      ),
      checkedRows: Type.Integer({
        description: `Number of rows that were read: at most ${MAX_CHECKED_ROWS}.`,
      }),
      isComplete: Type.Boolean({ description: 'True when these are all rows of the file.' }),
      failed: Type.Integer({ description: 'Number of these rows that would be refused.' }),
      rows: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: true }), {
        description: `The first ${MAX_SHOWN_ROWS} rows that would be imported.`,
      }),
      errors: Type.Array(Type.Object({ ...shownRow.properties, error: Type.String() }), {
        description: `The first ${MAX_SHOWN_ROWS} rows that would be refused.`,
      }),
      warnings: Type.Array(Type.String()),
    },
    {
      title,
      description: 'How the file would be read. Nothing was imported.',
      examples: [
        {
          encoding: 'utf-8',
          hasHeadings: true,
          columns: [{ column: 1, heading: 'Email Address', field: 'email' }],
          checkedRows: 1,
          isComplete: true,
          failed: 0,
          rows: [example],
          errors: [],
          warnings: [],
        },
      ],
    },
  );
}
type Preview = Static<ReturnType<typeof previewSchema>>;

/**
 * Returns the preview of an import.
 * @throws AppError validation_error for an unusable file
 */
export async function previewImport<Row>(
  app: Pick<App, 'db' | 'clock'>,
  handler: ImportHandler<Row>,
  { file, options, ...wanted }: WantedImport,
): Promise<Preview> {
  const encoding = options.encoding ?? (await findEncoding(file));
  const job = { ...wanted, options: JSON.stringify({ ...options, encoding }) };
  const source = { chunks: [file], sizeBytes: file.length };
  return preview(app, handler, { job, source, isGuessed: options.encoding === undefined });
}

/**
 * Returns the preview of an import that waits, with other options than it has if the request names them. When `isLenient`, a heading line that
 * cannot be used as it is gives columns without fields, and a warning.
 * @throws AppError validation_error; invalid_state when the import does not wait any more
 */
export async function previewWaiting<Row>(
  app: Pick<App, 'db' | 'clock' | 'blobs'>,
  handler: ImportHandler<Row>,
  { job, options, isLenient = false }: { job: JobRow; options: FileOptions; isLenient?: boolean },
): Promise<Preview> {
  if (job.status !== 'waiting' || job.blobId === null)
    throw new AppError('invalid_state', `The import is ${job.status}, and was started before`);
  const file = await app.blobs.open(job.blobId);
  const asked = { tenantId: job.tenantId, options: JSON.stringify({ ...readFileOptions(job), ...options }) };
  const source = { chunks: file.chunks(), sizeBytes: file.sizeBytes };
  const isGuessed = options.encoding === undefined;
  return preview(app, handler, { job: asked, source, isGuessed, isLenient });
}

type FirstJob = Parameters<typeof readFirstRecord>[1]['job'];
type Source = { chunks: Iterable<Buffer> | AsyncIterable<Buffer>; sizeBytes: number };
type Previewed = {
  job: FirstJob;
  source: Source;
  /** True when the encoding was found out from the file. */
  isGuessed: boolean;
  /** True to show a heading line that cannot be used. */
  isLenient?: boolean;
};

async function preview<Row>(
  app: Pick<App, 'db' | 'clock'>,
  handler: ImportHandler<Row>,
  { job, source, isGuessed, isLenient = false }: Previewed,
): Promise<Preview> {
  const { encoding } = readFileOptions(job);
  const beginning = await readBeginning(app, handler, { job, source, isLenient });
  const { reader, rows, errors, isComplete, fault, isUtf16, refusal } = beginning;
  const checkedRows = rows.length + errors.length;
  return {
    encoding: encoding ?? (isUtf16 ? 'utf-16' : 'utf-8'),
    hasHeadings: !reader.isHeadless,
    columns: reader.columns.map(({ heading, field }, column) => ({ column: column + 1, heading, field })),
    checkedRows,
    isComplete,
    failed: errors.length,
    rows: rows.slice(0, MAX_SHOWN_ROWS).map((row) => handler.show(row)),
    errors: errors
      .slice(0, MAX_SHOWN_ROWS)
      .map(({ line, email, message }) => ({ line, email, error: message })),
    warnings: [
      ...(refusal === undefined ? [] : [refusal]),
      ...(fault === undefined ? [] : [`The file cannot be read to its end. ${fault}`]),
      ...(encoding !== undefined && isGuessed
        ? [`The file is not UTF-8, so it is read as ${encoding}; if letters are wrong, name its \`encoding\``]
        : []),
      ...(reader.isHeadless
        ? ['The file has no heading line; `mapping` can name its columns by their numbers']
        : []),
      ...(errors.length > 0
        ? [`${errors.length} of ${checkedRows} rows would be refused; see \`errors\``]
        : []),
      ...(refusal === undefined ? handler.warn(reader, rows) : []),
      ...(isComplete ? [] : [`Only the first ${checkedRows} rows were checked`]),
    ],
  };
}

type Beginning<Row> = {
  reader: RowReader<Row>;
  rows: Row[];
  errors: { line: number; email: string; message: string }[];
  isComplete: boolean;
  fault: string | undefined;
  /** Why the heading line cannot be used. */
  refusal: string | undefined;
  isUtf16: boolean;
};

async function readBeginning<Row>(
  app: Pick<App, 'db' | 'clock'>,
  handler: ImportHandler<Row>,
  { job, source: { chunks, sizeBytes }, isLenient }: Pick<Previewed, 'job' | 'source' | 'isLenient'>,
): Promise<Beginning<Row>> {
  const { encoding } = readFileOptions(job);
  let reader: RowReader<Row> | undefined;
  const found: Omit<Beginning<Row>, 'reader'> = {
    rows: [],
    errors: [],
    isComplete: true,
    fault: undefined,
    refusal: undefined,
    isUtf16: false,
  };
  let isFirst = true;
  async function* watched(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      if (isFirst) found.isUtf16 = chunk[0] === 0xff || chunk[0] === 0xfe;
      isFirst = false;
      yield chunk;
    }
  }
  for await (const { records, readBytes, fault } of readRecords(watched(), encoding)) {
    found.fault = fault?.message;
    for (const record of records) {
      if (!reader) {
        const first = await readFirst(app, handler, { job, cells: record.cells, isLenient });
        ({ reader } = first);
        found.refusal = first.refusal;
        if (!reader.isHeadless) continue;
      }
      if (found.refusal !== undefined) break;
      if (found.rows.length + found.errors.length === MAX_CHECKED_ROWS) {
        found.isComplete = false;
        break;
      }
      const row = readRow(reader, record);
      if ('message' in row) found.errors.push(row);
      else found.rows.push(row.value as Row);
    }
    if (readBytes >= MAX_READ_BYTES && readBytes < sizeBytes) found.isComplete = false;
    if (!found.isComplete || found.refusal !== undefined) break;
  }
  if (!reader) throw new AppError('validation_error', found.fault ?? 'The file is empty');
  return { reader, ...found };
}

type First<Row> = { reader: RowReader<Row>; refusal: string | undefined };

async function readFirst<Row>(
  app: Pick<App, 'db' | 'clock'>,
  handler: ImportHandler<Row>,
  { job, cells, isLenient }: { job: FirstJob; cells: readonly string[]; isLenient: boolean | undefined },
): Promise<First<Row>> {
  try {
    const reader = (await readFirstRecord(app, { handler, job }, cells)) as RowReader<Row>;
    return { reader, refusal: undefined };
  } catch (error) {
    if (!isLenient || !(error instanceof AppError) || error.code !== 'validation_error') throw error;
    const columns = cells.map((cell) => ({ heading: trimText(cell), field: null }));
    const reader = { emailColumn: 0, isHeadless: false, columns, readRow: () => unreachable() };
    return { reader, refusal: error.message };
  }
}

function unreachable(): never {
  throw new Error('no row is read without headings');
}
