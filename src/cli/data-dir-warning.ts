/** Warns an operator whose daemon would use the data of earlier development starts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';

/**
 * Warns about a configuration file without `dataDir`. Its default directory is the same as that of a start without a
 * file, so an operator who tried Postrider there first would serve the test tenant, its keys and its mail in
 * production.
 * @returns one line for people; undefined when there is nothing to warn about
 */
export function dataDirWarning({
  development,
  dataDirIsDefault,
  dataDir,
}: Pick<Config, 'development' | 'dataDirIsDefault' | 'dataDir'>): string | undefined {
  if (development || !dataDirIsDefault || !existsSync(join(dataDir, 'postrider.db'))) return undefined;
  return (
    `warning: the configuration names no dataDir, so the data in ${dataDir} is used, which starts without a ` +
    'configuration file use too; set dataDir (POSTRIDER_DATA_DIR) to this or another directory'
  );
}
