/**
 * Lets sockets, files and threads make progress while a test polls a condition that only they can fulfil. A loop over
 * immediates would use a whole core for as long as it waits.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 1;

export const pause = (): Promise<void> => sleep(POLL_MS);
