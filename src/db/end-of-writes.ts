/**
 * State that the writes of one transaction share, and that is stored once, right before COMMIT. Ten writes that add to the same counter
 * then change its row once. A write that is refused leaves nothing of itself in the state: such a group runs its writes one by one, and
 * stores the state after each (db/write-group.ts).
 */
import type { Tx } from './operation.ts';

type Shared<State> = {
  create(): State;
  /** Stores the state as part of the transaction. */
  store(tx: Tx, state: State): Promise<void>;
};

/** The states of the transactions that are open, by connection. */
const open = new WeakMap<object, Map<Shared<never>, unknown>>();

/**
 * Returns a function that returns the state of the open transaction, which is created at its first use. Outside of a group of writes it
 * returns undefined, and the caller stores what it has itself.
 */
export function sharedByWrites<State>(shared: Shared<State>): (tx: Tx) => State | undefined {
  return (tx) => {
    const states = open.get(tx);
    if (!states) return undefined;
    const known = states.get(shared as Shared<never>);
    if (known !== undefined) return known as State;
    const created = shared.create();
    states.set(shared as Shared<never>, created);
    return created;
  };
}

/** Begins to share, without the state of earlier writes. */
export function shareAmongWrites(tx: Tx<unknown>): void {
  open.set(tx, new Map());
}

/** Stores the shared state, which is empty afterwards. */
export async function storeShared(tx: Tx<unknown>): Promise<void> {
  const states = open.get(tx);
  if (!states || states.size === 0) return;
  const stored = [...states];
  states.clear();
  for (const [{ store }, state] of stored) await store(tx as unknown as Tx, state as never);
}
