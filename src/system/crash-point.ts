/**
 * Named points at which a fault test ends the process as `kill -9` does. In production no point is armed, and
 * reaching one costs a comparison.
 */

export const CRASH_POINTS = [
  'accept-before-commit',
  'accept-after-commit',
  'claim-after-commit',
  'smtp-connected',
  'smtp-after-mail',
  'smtp-mid-data',
  'smtp-after-dot',
  'settle-before-commit',
  'settle-after-commit',
  'webhook-after-post',
] as const;
export type CrashPointName = (typeof CRASH_POINTS)[number];

export type CrashPoint = (name: CrashPointName) => void;

/** Returns a function that kills the process when it is called with the armed name, and otherwise does nothing. */
export function createCrashPoint(armed: CrashPointName | undefined): CrashPoint {
  return (name) => {
    if (name === armed) process.kill(process.pid, 'SIGKILL');
  };
}
