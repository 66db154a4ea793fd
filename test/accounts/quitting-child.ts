/** Opens the maildrop of an account and deletes all of its messages but the second, until the process is killed at a point. */
import { writeSync } from 'node:fs';
import { openMaildrop } from '../../src/accounts/maildrop.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { isRefusal } from '../../src/mail/pop3/session.ts';
import { createCrashPoint } from '../../src/system/crash-point.ts';
import { createAccountApp } from '../support/test-account.ts';

const [folder = '', point] = process.argv.slice(2);
const app = createAccountApp({ crashPoint: createCrashPoint(point) });
const drop = await openMaildrop(await openAccount(app, { id: 'mbx_1', folder }));
if (!isRefusal(drop)) await drop.quit([0, 2, 3]);
writeSync(1, 'removed\n');
