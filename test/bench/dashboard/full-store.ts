/** The data directory of a tenant with as much of everything as it may have, and all pages that people can open on it. */
import type { DaemonProcess } from '../../support/daemon.ts';
import { type Directory, startDns } from '../daemon.ts';
import { runModule } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import type { Full, FullInput } from './full-program.ts';
import { type PageKind, withoutIds } from './pages.ts';
import { opener, portOf } from './person.ts';

export type FullStore = Pick<Directory, 'dataDir' | 'dns'> & Full;

export async function fillFull(workspace: Workspace): Promise<FullStore> {
  const dataDir = workspace.newFolder('full');
  const startedAt = Date.now();
  const input: FullInput = { dataDir };
  const made = await runModule<Full>('dashboard/full-program.ts', input);
  console.error(`the full tenant: filled in ${Date.now() - startedAt} ms`);
  return { dataDir, dns: await startDns(), ...made };
}

/** Returns every page that somebody can open, by the person, the owner of a mailbox, or nobody. */
export function listFullPages(daemon: DaemonProcess, { visits }: FullStore): PageKind[] {
  return visits.flatMap(({ cookie, paths }) => {
    const open = opener(portOf(daemon), cookie);
    return paths.map((path) => ({ name: withoutIds(path), open: () => open(path) }));
  });
}
