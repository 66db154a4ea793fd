/** Opens the account of a folder and imports messages into it, until the process is killed at a point. */
import { openAccount } from '../../src/accounts/open.ts';
import { importMessages } from '../../src/accounts/transfer.ts';
import { createCrashPoint } from '../../src/system/crash-point.ts';
import { createAccountApp } from '../support/test-account.ts';
import { importedBatch } from './imported-batch.ts';

const [folder = '', point] = process.argv.slice(2);
const app = createAccountApp({ crashPoint: createCrashPoint(point) });
await importMessages(await openAccount(app, { id: 'mbx_1', folder }), importedBatch());
