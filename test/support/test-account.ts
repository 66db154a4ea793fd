/** Opens accounts in temporary folders. Messages are parsed in the same thread. */
import { join } from 'node:path';
import { readMailboxMessage } from '../../src/mail/message/mailbox-message.ts';
import { type AccountApp, type OpenAccount, openAccount } from '../../src/mailboxes/account/open.ts';
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
    parser: { read: (octets) => readMailboxMessage(octets) },
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
