/** Postrider with mailboxes, with default settings except for its ports. */
import { startDaemonProcess } from '../../support/daemon.ts';
import { freePort, listens } from '../../support/loopback.ts';
import { until } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import type { ImapServer } from './system.ts';

const HOSTNAME = 'postrider.test';
const PASSWORD = 'secret-word';
const START_TIMEOUT_MS = 15_000;

/** Starts the daemon with this number of mailboxes. It ends with this program. */
export async function startPostriderImap(workspace: Workspace, users: number): Promise<ImapServer> {
  const port = await freePort();
  const daemon = await startDaemonProcess({
    dataDir: workspace.newFolder('postrider'),
    env: {
      POSTRIDER_HOSTNAME: HOSTNAME,
      POSTRIDER_IMAP_ADDRESS: '127.0.0.1',
      POSTRIDER_IMAP_PORT: String(port),
    },
  });
  const tenant = (await daemon.cli(['tenant', 'create', 'people', '--plan', 'unlimited'])) as { id: string };
  const addresses = Array.from({ length: users }, (_, index) => `user${index}@sandbox.${HOSTNAME}`);
  const key = (await daemon.cli([
    ...['key', 'create', '--tenant', tenant.id, '--mode', 'live'],
    ...['--permission', 'full_access', '--name', 'bench'],
  ])) as { token: string };
  for (const address of addresses) {
    const created = await daemon.request('POST', '/v1/mailboxes', key.token, { address, password: PASSWORD });
    if (created.status !== 201) throw new Error(`POST /v1/mailboxes: ${JSON.stringify(created.body)}`);
  }
  // The first mailbox opens the listener.
  await until('Postrider listens for IMAP', START_TIMEOUT_MS, () => listens(port));
  return {
    port,
    pids: [daemon.pid],
    users: addresses.map((username) => ({ username, password: PASSWORD })),
    async stop() {
      await daemon.kill('SIGKILL');
    },
    // The structure of a message is stored when the message comes in.
    async forgetStructure() {},
  };
}
