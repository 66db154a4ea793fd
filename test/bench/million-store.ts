/** The data directory of a million emails, contacts and suppressions, which is filled once for all rows of a group. */
import { type Directory, makeDirectory } from './daemon.ts';
import type { Million, MillionInput } from './million-program.ts';
import { runModule } from './program.ts';
import type { Workspace } from './workspace.ts';

export const ROWS = 1_000_000;

export type MillionStore = Directory & Million & { nowMs: number };

export async function fillMillion(workspace: Workspace): Promise<MillionStore> {
  const directory = await makeDirectory(workspace, 'million');
  const nowMs = Date.now();
  const input: MillionInput = { ...directory, rows: ROWS, nowMs };
  const made = await runModule<Million>('million-program.ts', input);
  console.error(`the million: filled in ${Date.now() - nowMs} ms`);
  return { ...directory, ...made, nowMs };
}
