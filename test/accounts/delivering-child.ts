/** Opens the account of a folder and delivers a message to it, until the process is killed at a point. */
import { writeSync } from 'node:fs';
import { prepareContent } from '../../src/accounts/content.ts';
import { deliver } from '../../src/accounts/deliver.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { createCrashPoint } from '../../src/system/crash-point.ts';
import { createAccountApp, messageOf, START_MS } from '../support/test-account.ts';

const [folder = '', point, size] = process.argv.slice(2);
const app = createAccountApp({ crashPoint: createCrashPoint(point) });
const account = await openAccount(app, { id: 'mbx_1', folder });
const content = await prepareContent(account, [messageOf('delivered', Number(size))]);
const prefix = Buffer.from('Return-Path: <a@test.example>\r\n');
await deliver(account, { deliveryId: 'in_1', content, prefix, flags: 0, receivedAt: START_MS });
writeSync(1, 'delivered\n');
