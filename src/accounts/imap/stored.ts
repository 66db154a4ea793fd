/** Reads stored messages of the selected folder, as many at once as memory and other sessions allow. */
import { listPrefixes } from '../message-store.ts';
import { type Column, findStored, listStored, type StoredMessage } from '../stored-message-store.ts';
import type { SelectedState } from './session-state.ts';
import type { Entry } from './view.ts';

/** Number of octets of messages that are read at once. A message that is larger is read alone. */
const OCTETS_PER_BATCH = 256 * 1024;
/** Estimates of the size of a header: for a large message, and for one of unknown size. */
const HEADER_OCTETS = 16 * 1024;
const USUAL_HEADER_OCTETS = 4 * 1024;

/**
 * Returns the stored message of each entry, with these columns. Messages that were removed are read while the client does not know of
 * it; undefined stands for one that can be read no more.
 */
export async function readStored(
  { view, shared }: SelectedState,
  entries: readonly Entry[],
  columns: readonly Column[],
): Promise<(StoredMessage | undefined)[]> {
  const { read } = shared.account.db;
  const { folderId } = view.state;
  const found: (StoredMessage | undefined)[] = [];
  for (const range of neighboursOf(entries)) {
    for (const message of await listStored(read, { folderId, ...range }, columns)) {
      while ((entries[found.length]?.uid ?? message.uid) < message.uid) found.push(undefined);
      found.push(message);
    }
  }
  found.length = entries.length;
  for (const [index, { uid }] of entries.entries()) {
    const removed = found[index] ? undefined : view.state.removedMessage(uid);
    if (removed) found[index] = await findStored(read, removed, columns);
  }
  return found;
}

/** Returns the prefixes of messages by UID. Most messages that clients have added have none. */
export async function readPrefixes(
  { view, shared }: SelectedState,
  entries: readonly Entry[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const { folderId } = view.state;
  const found = new Map<number, Uint8Array>();
  for (const range of neighboursOf(entries))
    for (const { uid, prefix } of await listPrefixes(shared.account.db.read, { folderId, ...range }))
      found.set(uid, prefix);
  for (const { uid, isGone } of entries) {
    const removed = isGone ? view.state.removedMessage(uid) : undefined;
    if (removed) found.set(uid, removed.prefix);
  }
  return found;
}

/** Yields ranges of UIDs that have no other messages in them. */
function* neighboursOf(entries: readonly Entry[]): Generator<{ uidFrom: number; uidTo: number }> {
  for (let from = 0; from < entries.length; ) {
    const first = entries[from] as Entry;
    let to = from + 1;
    while (entries[to]?.number === first.number + to - from) to++;
    yield { uidFrom: first.uid, uidTo: (entries[to - 1] as Entry).uid };
    from = to;
  }
}

/**
 * Yields ranges of indexes, the end excluded, of messages of which these columns can be in memory at the same time. `sizes` are those of
 * the messages, which only the reading of contents needs.
 */
export function* batchesOf(
  sizes: readonly (number | undefined)[],
  columns: readonly Column[],
): Generator<[from: number, to: number]> {
  if (columns.length === 0) return yield [0, sizes.length];
  const needsContent = columns.includes('octets');
  let from = 0;
  let octets = 0;
  for (let index = 0; index < sizes.length; index++) {
    const sizeBytes = sizes[index] ?? USUAL_HEADER_OCTETS;
    const needed = needsContent ? sizeBytes : Math.min(sizeBytes, HEADER_OCTETS);
    if (octets + needed > OCTETS_PER_BATCH && index > from) {
      yield [from, index];
      from = index;
      octets = 0;
    }
    octets += needed;
  }
  if (from < sizes.length) yield [from, sizes.length];
}
