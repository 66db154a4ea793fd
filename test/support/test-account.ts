/** Opens accounts in temporary folders. Messages are parsed in the same thread. */

import { join } from 'node:path';
import type { AccountApp, OpenAccount } from '../../src/accounts/account.ts';
import { addMessages, type NewMessage } from '../../src/accounts/add.ts';
import { prepareContent } from '../../src/accounts/content.ts';
import { FollowedAccounts } from '../../src/accounts/followed-accounts.ts';
import { SESSION_MEMORY } from '../../src/accounts/imap/session-memory.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { readMailboxMessage } from '../../src/mail/mailbox-message/read.ts';
import { createByteBudget } from '../../src/system/guards/byte-budget.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { recordLog } from './record-log.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Time at which the clock of a test starts: 2026-01-01. */
export const START_MS = Date.UTC(2026, 0, 1);

/** Returns what accounts need, with a clock that stands still. */
export function createAccountApp(overrides: Partial<AccountApp> = {}): AccountApp & { clock: FakeClock } {
  const clock = createFakeClock(START_MS);
  return {
    log: recordLog().log,
    metrics: createMetrics(clock),
    crashPoint: () => {},
    parser: { read: (octets, _owner, options) => readMailboxMessage(octets, options) },
    sessionMemory: createByteBudget(SESSION_MEMORY),
    followed: new FollowedAccounts(),
    ...overrides,
    clock,
  };
}

/** Opens a new account. The caller closes it. */
export function openTestAccount(
  app: AccountApp = createAccountApp(),
  folder = join(temporaryDirectory('account'), 'mailboxes', 'mbx_1'),
): Promise<OpenAccount> {
  return openAccount(app, { id: 'mbx_1', folder, isNew: true });
}

/** Returns a message of about this size. */
export function messageOf(subject: string, sizeBytes = 0): Buffer {
  const header = `From: Ann <ann@test.example>\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@test.example>\r\n\r\n`;
  const line = `${'x'.repeat(76)}\r\n`;
  return Buffer.from(header + line.repeat(Math.ceil(Math.max(sizeBytes - header.length, 1) / line.length)));
}

/** Adds messages to a folder and returns their UIDs. */
export async function addTestMessages(
  account: OpenAccount,
  folder: string,
  messages: readonly (Buffer | (Partial<NewMessage> & { bytes: Buffer }))[],
): Promise<readonly number[]> {
  const prepared: NewMessage[] = [];
  for (const message of messages) {
    const { bytes, ...fields } = Buffer.isBuffer(message) ? { bytes: message } : message;
    const content = await prepareContent(account, [bytes]);
    const internalDate = { atMs: START_MS, zoneMinutes: 0 };
    prepared.push({ content, flags: 0, keywords: [], internalDate, ...fields });
  }
  const added = await addMessages(account, { folder, messages: prepared });
  if ('refused' in added) throw new Error(`refused because of the ${added.refused}`);
  return added.uids;
}
