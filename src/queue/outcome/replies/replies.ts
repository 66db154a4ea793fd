/** Keeps the reply table of the daemon. It is read at its first use, and again when its file has changed. */
import type { App } from '../../../app.ts';
import { readTable, tablePath } from '../../../config/data-table.ts';
import { TableFile, type TableLog } from '../../../config/table-file.ts';
import { dataFilePath } from '../../../data-files.ts';
import { parseReplies } from './parse.ts';
import { ReplyTable } from './table.ts';

/** The table that comes with the program. */
const PACKAGED_FILE = 'replies.yaml';

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
  return tablePath(repliesFile, dataFilePath(PACKAGED_FILE));
}

const parse = (yaml: string) => new ReplyTable(parseReplies(yaml));

/**
 * Returns the table of a file.
 * @throws DataTableError
 */
export function readReplies(file: string): ReplyTable {
  return readTable(file, parse);
}

/** The table of a file that is read again when it changes. */
export class RepliesFile extends TableFile<ReplyTable> implements Replies {
  constructor({ config, log }: Pick<App, 'config'> & { log: TableLog }) {
    super({
      name: 'reply table',
      file: repliesPath(config.delivery.repliesFile),
      log,
      parse,
      packaged: packagedReplies,
      countRows: ({ rows }) => rows.length,
    });
  }
}
