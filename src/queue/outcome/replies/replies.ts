/**
 * Keeps the reply table of the daemon. It is read at its first use, and again when its file has changed. A file that cannot be used
 * never replaces a table.
 */
import { readFileSync, statSync } from 'node:fs';
import type { App } from '../../../app.ts';
import { dataFilePath } from '../../../data-files.ts';
import { errorCode, errorMessage } from '../../../system/errors.ts';
import { periodic, type Work } from '../../../system/worker.ts';
import { parseReplies, ReplyTableError } from './parse.ts';
import { ReplyTable } from './table.ts';

/** The table that comes with the program. */
const PACKAGED_FILE = 'replies.yaml';
/** Maximum size of a file in bytes. The packaged table has about 40 KB. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Time between two checks of the file, in milliseconds. */
const CHECK_PERIOD_MS = 10_000;

/** Gives the table in use. */
export type Replies = { readonly table: ReplyTable };

let packaged: ReplyTable | undefined;

/** Returns the table that comes with the program. */
export function packagedReplies(): ReplyTable {
  packaged ??= readReplies(dataFilePath(PACKAGED_FILE));
  return packaged;
}

/** Returns the path of the table of a configuration: its own file, or the one that comes with the program. */
export function repliesPath(repliesFile: string): string {
  return repliesFile === '' ? dataFilePath(PACKAGED_FILE) : repliesFile;
}

/**
 * Returns the table of a file.
 * @throws ReplyTableError
 */
export function readReplies(file: string): ReplyTable {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new ReplyTableError('is not a regular file');
    if (stats.size > MAX_FILE_BYTES) throw new ReplyTableError(`is larger than ${MAX_FILE_BYTES} bytes`);
    return new ReplyTable(parseReplies(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = errorCode(error) === 'ENOENT' ? 'does not exist' : errorMessage(error);
    throw new ReplyTableError(`${file}: ${reason}`, { cause: error });
  }
}

/** The two lines that a table writes into the log. */
type ReloadLog = Record<'info' | 'error', (fields: object, message: string) => void>;

/** The table of a file that is read again when it changes. */
export class RepliesFile implements Replies {
  readonly #file: string;
  readonly #log: ReloadLog;
  #table: ReplyTable | undefined;
  /** State of the file when it was read last, and at the last check. */
  #readState = '';
  #seenState = '';

  constructor({ config, log }: Pick<App, 'config'> & { log: ReloadLog }) {
    this.#file = repliesPath(config.delivery.repliesFile);
    this.#log = log;
  }

  get table(): ReplyTable {
    if (!this.#table) this.#read();
    this.#table ??= packagedReplies();
    return this.#table;
  }

  /** Reads the file when it has changed since it was read, and not since the last check: editors write in pieces. */
  check(): void {
    const state = stateOf(this.#file);
    const isSettled = state === this.#seenState;
    this.#seenState = state;
    if (this.#table && isSettled && state !== this.#readState) this.#read();
  }

  #read(): void {
    // The state comes first: a change during the read is then found by the next check.
    this.#readState = stateOf(this.#file);
    try {
      const table = readReplies(this.#file);
      if (this.#table) this.#log.info({ file: this.#file, rows: table.rows.length }, 'reply table read');
      this.#table = table;
    } catch (error) {
      this.#log.error({ reason: errorMessage(error) }, 'reply table cannot be used: the one before it stays');
    }
  }
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

/** Returns the work that reads the table again. */
export function createRepliesWork({ clock }: Pick<App, 'clock'>, replies: RepliesFile): Work<'run'> {
  const run = async () => replies.check();
  return periodic(clock, { name: 'reply table', periodMs: CHECK_PERIOD_MS, run });
}
