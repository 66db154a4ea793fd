/** Postrider with mailboxes, with default settings except for its ports. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon.ts';
import { freePort, listens } from '../../support/loopback.ts';
import { ask } from '../daemon.ts';
import { until } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import type { ImapUser } from './client.ts';
import type { ImapServer } from './system.ts';

const HOSTNAME = 'postrider.test';
const PASSWORD = 'secret-word';
const START_TIMEOUT_MS = 15_000;
/** Texts are written 5 s after their messages, and are then indexed in steps without long pauses. */
const QUIET_MS = 10_000;
const QUIET_TIMEOUT_MS = 15 * 60_000;
const POLL_MS = 1_000;

/** `key` is an API key of the tenant of the mailboxes. */
export type PostriderImap = ImapServer & {
  daemon: DaemonProcess;
  smtpPort: number;
  pop3Port: number;
  key: string;
};

/** Starts the daemon with this number of mailboxes. It ends with this program. */
export async function startPostriderImap(
  workspace: Workspace,
  users: number,
  env: Record<string, string> = {},
): Promise<PostriderImap> {
  const [port, smtpPort, pop3Port] = [await freePort(), await freePort(), await freePort()];
  const daemon = await startDaemonProcess({
    dataDir: workspace.newFolder('postrider'),
    env: {
      POSTRIDER_HOSTNAME: HOSTNAME,
      POSTRIDER_IMAP_ADDRESS: '127.0.0.1',
      POSTRIDER_IMAP_PORT: String(port),
      POSTRIDER_POP3_ADDRESS: '127.0.0.1',
      POSTRIDER_POP3_PORT: String(pop3Port),
      POSTRIDER_MANAGESIEVE_PORT: '0',
      POSTRIDER_SMTP_ADDRESS: '127.0.0.1',
      POSTRIDER_SMTP_PORT: String(smtpPort),
      POSTRIDER_SUBMISSION_ENABLED: 'false',
      POSTRIDER_HTTP_METRICS: 'true',
      ...env,
    },
  });
  const tenant = (await daemon.cli(['tenant', 'create', 'people', '--plan', 'unlimited'])) as { id: string };
  const addresses = Array.from({ length: users }, (_, index) => `user${index}@sandbox.${HOSTNAME}`);
  const key = (await daemon.cli([
    ...['key', 'create', '--tenant', tenant.id, '--mode', 'live'],
    ...['--permission', 'full_access', '--name', 'bench'],
  ])) as { token: string };
  const credentials: ImapUser[] = [];
  for (const address of addresses) {
    const mailbox = { address, password: PASSWORD };
    const { id } = await ask<{ id: string }>(daemon, ['POST', '/v1/mailboxes', key.token], mailbox);
    // Mail programs log in with app passwords, which cost no Argon2.
    const path = `/v1/mailboxes/${id}/app-passwords`;
    const { password } = await ask<{ password: string }>(daemon, ['POST', path, key.token], {
      name: 'bench',
    });
    credentials.push({ username: address, password });
  }
  // The first mailbox opens the listener.
  await until('Postrider listens for IMAP', START_TIMEOUT_MS, () => listens(port));
  return {
    ...{ port, smtpPort, pop3Port, daemon, key: key.token },
    pids: [daemon.pid],
    users: credentials,
    [Symbol.asyncDispose]: () => daemon.kill('SIGKILL'),
    settle: () => waitForQuiet(join(daemon.dataDir, 'mailboxes')),
    // The structure of a message is stored when the message comes in.
    async forgetStructure() {},
  };
}

/** Waits until no file in this folder has changed for a while. */
async function waitForQuiet(folder: string): Promise<void> {
  const deadline = performance.now() + QUIET_TIMEOUT_MS;
  while (Date.now() - lastChange(folder) < QUIET_MS) {
    if (performance.now() > deadline) throw new Error('the mailboxes do not come to rest');
    await delay(POLL_MS);
  }
}

function lastChange(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const times = files.map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return times.reduce((latest, time) => Math.max(latest, time), 0);
}
