/**
 * Named points at which a fault test ends the process as `kill -9` does. In production no point is armed, and
 * reaching one costs a comparison.
 */

export type CrashPoint = (name: string) => void;

/** Returns a function that kills the process when it is called with the armed name, and otherwise does nothing. */
export function createCrashPoint(armed: string | undefined): CrashPoint {
  return (name) => {
    if (name === armed) process.kill(process.pid, 'SIGKILL');
  };
}
