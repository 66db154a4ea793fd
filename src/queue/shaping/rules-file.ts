/** Keeps the back-off rules of the daemon. They are read at their first use, and again when their file has changed. */
import type { App } from '../../app.ts';
import { readTable, tablePath } from '../../config/data-table.ts';
import { TableFile, type TableLog } from '../../config/table-file.ts';
import { dataFilePath } from '../../data-files.ts';
import { parseRules } from './parse.ts';
import { RuleTable } from './rule-table.ts';

const PACKAGED_FILE = dataFilePath('back-off.yaml');

/** Gives the rules in use. */
export type Rules = { readonly table: RuleTable };

const parse = (yaml: string) => new RuleTable(parseRules(yaml));

let packaged: RuleTable | undefined;

/** Returns the rules that come with the program. */
export function packagedRules(): RuleTable {
  packaged ??= readRules('');
  return packaged;
}

/**
 * Returns the rules of a configuration: its own file, or those that come with the program when `backOffFile` is empty.
 * @throws DataTableError
 */
export function readRules(backOffFile: string): RuleTable {
  return readTable(tablePath(backOffFile, PACKAGED_FILE), parse);
}

/** Opens the rules of a configuration. */
export function openRules({ config, log }: Pick<App, 'config'> & { log: TableLog }): TableFile<RuleTable> {
  return new TableFile({
    name: 'back-off rules',
    file: tablePath(config.delivery.backOffFile, PACKAGED_FILE),
    log,
    parse,
    packaged: packagedRules,
    countRows: ({ rules }) => rules.length,
  });
}
