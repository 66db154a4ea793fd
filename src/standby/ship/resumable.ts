/**
 * Finds the generation that goes on after a restart or a gap. Its pages are known (chain/chain.ts), its base is in the spool or in the store, and the segments in the
 * store end where those in the spool begin: a store that was emptied, replaced or written by another host gets a new base.
 */
import type { Chain } from '../chain/chain.ts';
import type { ChainCut } from '../chain/records.ts';
import type { Remote } from '../follow/remote.ts';
import type { Spool } from './spool.ts';

/** A generation that goes on after its last segment. The time of its state is in Unix milliseconds. */
export type Resumable = { generation: string; sequence: number; takenAt: number };

/** @throws StoreError */
export async function findResumable(
  remote: Remote,
  { spool, chain }: { spool: Spool; chain: Chain },
): Promise<Resumable | undefined> {
  const { isKnown, last } = chain;
  if (!isKnown || !last) return undefined;
  const { takenAt } = last;
  let found: Resumable | undefined;
  for (const cut of last.cuts.toReversed()) {
    const { generation, sequence } = cut;
    if (!found && (await canGoOn(remote, spool, cut))) found = { generation, sequence, takenAt };
    else await spool.end(generation);
  }
  return found;
}

async function canGoOn(remote: Remote, spool: Spool, { generation, sequence }: ChainCut): Promise<boolean> {
  if (!spool.isOpen(generation)) return false;
  const first = spool.firstSegment(generation)?.sequence ?? sequence + 1;
  if (spool.hasBase(generation)) return first === 1;
  if (!(await remote.findBase(generation))) return false;
  if (first > 1 && !(await remote.hasSegment(generation, first - 1))) return false;
  return !(await remote.hasSegmentAfter(generation, sequence));
}
