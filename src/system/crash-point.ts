/**
 * Named points at which a fault test ends the process as `kill -9` does. In production no point is armed, and
 * reaching one costs a comparison.
 */

/** Reaches a point. `kind` tells work of different kinds apart that reaches the same point. */
export type CrashPoint = (name: string, kind?: string) => void;

/** Separates the name of an armed point from the kind of work that it is armed for. */
const SEPARATOR = '/';

/** Begins an armed point that ends only the thread that reaches it. */
const THREAD = 'thread:';

/**
 * Returns a function that kills the process at the armed point, and otherwise does nothing. `name` arms a point for all
 * work, and `name/kind` for work of one kind. `thread:name` ends the thread alone, and the process when that is its main thread.
 */
export function createCrashPoint(armed: string | undefined): CrashPoint {
  const { name: armedName, kind: armedKind, endsThread } = parseArmed(armed ?? '');
  return (name, kind) => {
    if (name !== armedName) return;
    if (armedKind !== undefined && kind !== armedKind) return;
    if (endsThread) process.exit(1);
    process.kill(process.pid, 'SIGKILL');
  };
}

/** Returns the name of an armed point alone. */
export function crashPointName(armed: string): string {
  return parseArmed(armed).name;
}

function parseArmed(armed: string): { name: string; kind: string | undefined; endsThread: boolean } {
  const endsThread = armed.startsWith(THREAD);
  const [name = '', kind] = armed.slice(endsThread ? THREAD.length : 0).split(SEPARATOR);
  return { name, kind, endsThread };
}
