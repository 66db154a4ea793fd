/**
 * Fills a data directory with a tenant that has as much of everything as it may have (test/support/dashboard/full.ts). Prints one line of
 * JSON when all is on disk: who is logged in, and the pages that they can open. The process ends without closing, which would remove the directory.
 */
import { openFull } from '../../support/dashboard/full.ts';
import { openPopulated } from '../../support/resources/populated.ts';

export type FullInput = { dataDir: string };
export type Full = { visits: { cookie: string; paths: readonly string[] }[] };

const { dataDir } = JSON.parse(process.argv[2] ?? '') as FullInput;
const world = await openPopulated({}, { POSTRIDER_DATA_DIR: dataDir });
const visits = await openFull(world);
const full: Full = { visits: visits.map(({ browser, paths }) => ({ cookie: browser.cookie(), paths })) };
process.stdout.write(`${JSON.stringify(full)}\n`, () => process.exit(0));
