/** Opens the maildrop of an account and deletes all of its messages but the second, until the process is killed at a point. */
import { writeSync } from 'node:fs';
import { createMaildrop } from '../../src/accounts/maildrop.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { createCrashPoint } from '../../src/system/crash-point.ts';
import { createAccountApp } from '../support/test-account.ts';

const [folder = '', point] = process.argv.slice(2);
const app = createAccountApp({ crashPoint: createCrashPoint(point) });
const drop = createMaildrop(await openAccount(app, { id: 'mbx_1', folder }));
await drop.openMaildrop();
await drop.quitMaildrop([0, 2, 3]);
writeSync(1, 'removed\n');
