/**
 * Named points at which a fault test ends the process as `kill -9` does. In production no point is armed, and
 * reaching one costs a comparison.
 */

/** Reaches a point. `kind` tells work of different kinds apart that reaches the same point. */
export type CrashPoint = (name: string, kind?: string) => void;

/** Separates the name of an armed point from the kind of work that it is armed for. */
const SEPARATOR = '/';

/**
 * Returns a function that kills the process at the armed point, and otherwise does nothing. `name` arms a point for all
 * work, and `name/kind` for work of one kind.
 */
export function createCrashPoint(armed: string | undefined): CrashPoint {
  const [armedName, armedKind] = armed?.split(SEPARATOR) ?? [];
  return (name, kind) => {
    if (name !== armedName) return;
    if (armedKind === undefined || kind === armedKind) process.kill(process.pid, 'SIGKILL');
  };
}

/** Returns the name of an armed point without its kind. */
export function crashPointName(armed: string): string {
  return armed.split(SEPARATOR, 1).join();
}
