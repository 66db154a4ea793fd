/** The id of a task, by which operators name it: its kind and its reference. */
import type { TaskKey } from './store.ts';

const SEPARATOR = '/';

/** Returns the id of a task. */
export function taskId({ kind, reference }: TaskKey): string {
  return kind + SEPARATOR + reference;
}

/** Returns what an id names. The kind of a task has no separator. */
export function readTaskId(id: string): TaskKey {
  const [kind = '', ...rest] = id.split(SEPARATOR);
  return { kind, reference: rest.join(SEPARATOR) };
}
