/**
 * Reads the records of a file (RFC 4180) in pieces: decode.ts decodes the bytes, csv-parse splits the records, and
 * each record gets its line number. Memory holds no more of a file than the longest record allows, and other work on
 * the event loop runs after every slice.
 */
import { CsvError, Parser } from 'csv-parse';
import { AppError } from '../system/errors.ts';
import { nextSlice } from '../system/slices.ts';
import { decode } from './decode.ts';
import { type Delimiter, findDelimiter, findSeparatorLine } from './delimiter.ts';
import type { FileEncoding } from './encoding.ts';

export type CsvRecord = {
  /** Line of the file in which the record begins, counted from 1. */
  line: number;
  cells: readonly string[];
};

type Piece = {
  records: readonly CsvRecord[];
  /** Number of bytes of the file that are read. */
  readBytes: number;
  /** The reason why reading stopped, as text for the owner of the file. Only the last piece has one. */
  fault?: AppError;
};

/** Maximum length of a record: 32 KiB of properties, the names, and quoting. */
export const MAX_RECORD_BYTES = 64 * 1024;

/**
 * Yields the records in pieces. The first record is the heading line. Records whose cells are all blank are left out,
 * because spreadsheets write such lines.
 */
export async function* readRecords(
  file: AsyncIterable<Buffer> | Iterable<Buffer>,
  encoding?: FileEncoding,
): AsyncGenerator<Piece> {
  const reader = createRecordReader();
  let readBytes = 0;
  try {
    for await (const decoded of decode(file, encoding)) {
      readBytes = decoded.readBytes;
      yield { records: await reader.read(decoded.text), readBytes };
      await nextSlice();
    }
    yield { records: await reader.end(), readBytes };
    reader.requireGood();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'validation_error')) throw error;
    yield { records: [], readBytes, fault: error };
  }
}

function createRecordReader() {
  /** Beginning of the file, held until the delimiter is known. */
  let held: Buffer = Buffer.alloc(0);
  let parser: RecordParser | undefined;

  const begin = (isWhole: boolean): readonly Buffer[] => {
    const delimiter = findDelimiter(held, isWhole);
    if (delimiter === undefined) {
      if (held.length > MAX_RECORD_BYTES) throw tooLong(1);
      return [];
    }
    const separator = findSeparatorLine(held);
    // The line may go on with a line feed.
    if (separator?.bytes === held.length && !isWhole) return [];
    parser = createRecordParser(separator?.delimiter ?? delimiter, separator ? 2 : 1);
    return [separator ? held.subarray(separator.bytes) : held];
  };

  const parse = async (texts: readonly Buffer[]): Promise<CsvRecord[]> => {
    const records: CsvRecord[] = [];
    for (const text of texts) records.push(...((await parser?.write(text)) ?? []));
    return records;
  };

  return {
    async read(text: Buffer): Promise<CsvRecord[]> {
      if (parser) return parse([text]);
      held = Buffer.concat([held, text]);
      return parse(begin(false));
    },
    async end(): Promise<CsvRecord[]> {
      const first = parser ? [] : await parse(begin(true));
      return [...first, ...((await parser?.end()) ?? [])];
    },
    /**
     * Throws the fault that reading has found.
     * @throws AppError
     */
    requireGood(): void {
      parser?.requireGood();
    },
  };
}

type RecordParser = ReturnType<typeof createRecordParser>;

/** Parses records. A fault is thrown at the next call, so that the records before it are not lost. */
function createRecordParser(delimiter: Delimiter, firstLine: number) {
  let found: CsvRecord[] = [];
  let fault: AppError | undefined;
  let writtenBytes = 0;
  /** End of the last record, or of the last slice with an empty line in it, in bytes. */
  let endBytes = 0;
  let emptyLines = 0;
  let nextLine = firstLine;

  const parser = new Parser({
    delimiter,
    // All line endings are accepted, because a file may be joined from several. csv-parse alone would use the first
    // one.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    on_record(cells: string[], { bytes, empty_lines }) {
      const line = nextLine + empty_lines - emptyLines;
      emptyLines = empty_lines;
      nextLine = line + 1 + cells.reduce((sum, cell) => sum + lineBreaks(cell), 0);
      if (bytes - endBytes > MAX_RECORD_BYTES) fault ??= tooLong(line);
      endBytes = bytes;
      if (!fault && cells.some((cell) => cell.trim() !== '')) found.push({ line, cells });
      return null;
    },
  });
  const lineOfFault = () => nextLine + parser.info.empty_lines - emptyLines;
  parser.on('error', (error) => {
    fault ??= describe(error, lineOfFault());
  });
  parser.resume();

  const take = (): CsvRecord[] => {
    const records = found;
    found = [];
    return records;
  };
  const requireGood = (): void => {
    if (fault) throw fault;
  };

  return {
    requireGood,
    async write(text: Buffer): Promise<CsvRecord[]> {
      requireGood();
      const emptyBefore = parser.info.empty_lines;
      await new Promise<void>((resolve) => void parser.write(text, () => resolve()));
      if (parser.info.empty_lines > emptyBefore) endBytes = Math.max(endBytes, writtenBytes);
      writtenBytes += text.length;
      if (writtenBytes - endBytes > MAX_RECORD_BYTES) fault ??= tooLong(lineOfFault());
      return take();
    },
    async end(): Promise<CsvRecord[]> {
      requireGood();
      await new Promise<void>((resolve) => {
        parser.once('error', () => resolve());
        parser.end(() => resolve());
      });
      return take();
    },
  };
}

function lineBreaks(cell: string): number {
  return /[\r\n]/.test(cell) ? cell.split(/\r\n|\r|\n/).length - 1 : 0;
}

function describe(error: unknown, line: number): AppError {
  const code = error instanceof CsvError ? error.code : undefined;
  switch (code) {
    case 'CSV_INVALID_CLOSING_QUOTE':
      return badFile(`Line ${line}: text follows a closing quote; quotes within a quoted cell are doubled`);
    case 'INVALID_OPENING_QUOTE':
      return badFile(`Line ${line}: a quote stands within a cell that does not begin with one`);
    case 'CSV_QUOTE_NOT_CLOSED':
      return badFile(`Line ${line}: the file ends in a quoted cell`);
    default:
      return badFile(`Line ${line} cannot be read as CSV`);
  }
}

function tooLong(line: number): AppError {
  return badFile(
    `Line ${line}: a record is longer than ${MAX_RECORD_BYTES / 1024} KiB; perhaps a quote is not closed`,
  );
}

function badFile(message: string): AppError {
  return new AppError('validation_error', message);
}
