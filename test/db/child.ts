/** Opens the database of a directory and commits blobs, a line for each that was acknowledged, until it is killed. */
import { writeSync } from 'node:fs';
import { openMainDatabase } from '../../src/db/main-database.ts';
import { realClock } from '../../src/system/clock.ts';
import { createLog } from '../../src/system/log.ts';
import { addBlob } from './operations.ts';

const [directory = '', sizeBytes = '0', count = '0'] = process.argv.slice(2);
const db = await openMainDatabase(
  { clock: realClock, log: createLog('silent') },
  {
    directory,
    operationsModule: new URL('./operations.ts', import.meta.url),
    synchronous: 'FULL',
    readers: 0,
    crashAt: undefined,
  },
);
writeSync(1, 'open\n');
for (let index = 0; index < Number(count); index++) {
  await db.commit(addBlob, { id: `n${index}`, sizeBytes: Number(sizeBytes) });
  writeSync(1, `n${index}\n`);
}
// Without a reason to end, it waits to be killed.
await new Promise((resolve) => setTimeout(resolve, 60_000));
