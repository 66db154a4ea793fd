import { openDatabase } from '../src/db/database.ts';
import { realClock } from '../src/system/clock.ts';
import { createLog } from '../src/system/log.ts';
import {rmSync} from 'node:fs';
for (const readers of [0,1,2,2]) {
const t = performance.now();
const db = await openDatabase({clock: realClock, log: createLog('info')}, {directory: '/tmp/dbg/d'+readers, operationsModule: new URL('./db/operations.ts', import.meta.url), synchronous: 'FULL', readers, crashAt: undefined});
const t2 = performance.now();
await db.close();
console.log(readers, t2-t, performance.now()-t2);
rmSync('/tmp/dbg/d'+readers, {recursive: true});
}
