/** Keeps a table of data in use, and reads its file again when that has changed. A file that cannot be used never replaces a table. */
import { statSync } from 'node:fs';
import type { Clock } from '../system/clock.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { periodic, type Work } from '../system/worker.ts';
import { readTable } from './data-table.ts';

/** Time between two checks of a file, in milliseconds. */
const CHECK_PERIOD_MS = 10_000;

/** The two lines that a table writes into the log. */
export type TableLog = Record<'info' | 'error', (fields: object, message: string) => void>;

type TableOptions<Table> = {
  /** Name of the table in the log, such as `reply table`. */
  name: string;
  file: string;
  log: TableLog;
  /** @throws DataTableError */
  parse(yaml: string): Table;
  /** Returns the table that comes with the program, which is used while the file was never usable. */
  packaged(): Table;
  countRows(table: Table): number;
};

export class TableFile<Table> {
  readonly #options: TableOptions<Table>;
  #table: Table | undefined;
  /** State of the file when it was read last, and at the last check. */
  #readState = '';
  #seenState = '';

  constructor(options: TableOptions<Table>) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The table in use. The file is read at the first use. */
  get table(): Table {
    if (this.#table === undefined) this.#read();
    this.#table ??= this.#options.packaged();
    return this.#table;
  }

  /** Reads the file when it has changed since it was read, and not since the last check: editors write in pieces. */
  check(): void {
    const state = stateOf(this.#options.file);
    const isSettled = state === this.#seenState;
    this.#seenState = state;
    if (this.#table !== undefined && isSettled && state !== this.#readState) this.#read();
  }

  #read(): void {
    const { name, file, log, parse, countRows } = this.#options;
    // The state comes first: a change during the read is then found by the next check.
    this.#readState = stateOf(file);
    try {
      const table = readTable(file, parse);
      if (this.#table !== undefined) log.info({ file, rows: countRows(table) }, `${name} read`);
      this.#table = table;
    } catch (error) {
      log.error({ reason: errorMessage(error) }, `${name} cannot be used: the one before it stays`);
    }
  }
}

/** Returns the work that reads a table again when its file has changed. */
export function createTableWork({ clock }: { clock: Clock }, file: TableFile<unknown>): Work<'run'> {
  return periodic(clock, { name: file.name, periodMs: CHECK_PERIOD_MS, run: async () => file.check() });
}

/** Returns a text that changes with the content of the file. */
function stateOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join(':');
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
}
