/** The end of a life of the daemon by `kill -9`: at a crash point, or from outside. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, DaemonStartError } from '../support/daemon.ts';
import type { World } from './world.ts';

/**
 * Starts the daemon, which ends at this crash point if there is one. Returns undefined when work of the life before has led to the point
 * before the daemon listened.
 */
export async function startUntil(world: World, crashAt?: string): Promise<DaemonProcess | undefined> {
  try {
    return await world.start(crashAt);
  } catch (error) {
    if (!(error instanceof DaemonStartError) || error.exit?.signal !== 'SIGKILL') throw error;
    await world.endLife(Date.now());
    return undefined;
  }
}

type End = { atMs: number; atPoint: boolean };

/** Waits until the daemon has ended at its crash point, or kills it when the time is up. */
export async function untilDeath(daemon: DaemonProcess, waitMs: number): Promise<End> {
  const atPoint = await Promise.race([daemon.exited.then(() => true), sleep(waitMs, false)]);
  if (!atPoint) await daemon.kill('SIGKILL');
  return { atMs: Date.now(), atPoint };
}

/** @throws Error when the daemon has ended in another way than by `kill -9` */
export async function requireKill(daemon: DaemonProcess): Promise<void> {
  const { signal } = await daemon.exited;
  if (signal !== 'SIGKILL') throw new Error(`the daemon ended by itself:\n${daemon.output()}`);
}
