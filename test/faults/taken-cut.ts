/** A cut as it is taken: the image of the disk, and what the daemon had promised before. Judged by `cut-judge.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonProcess } from '../support/daemon.ts';
import type { Cut, VolatileDisk } from './disk/volatile-disk.ts';
import { Load } from './load.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Mix, Submission } from './submission.ts';

export type TakenCut = {
  image: string;
  /** `start`: during the daemon's first start, when nothing was acknowledged yet. */
  moment: 'start' | 'load' | 'error';
  testKey: string | undefined;
  masterKey: string | undefined;
  acknowledged: readonly Submission[];
  load: Load;
  pendingWrites: number;
  lostPieces: number;
};

const HOSTNAME = 'mail.test';

export async function takeCut(
  disk: VolatileDisk,
  cut: Cut,
  daemon: DaemonProcess | undefined,
  load: Load,
): Promise<TakenCut> {
  // What counts is settled before the cut is asked for: an answer read later proves nothing about it.
  const acknowledged = structuredClone(load.acknowledged);
  const masterKey = daemon === undefined ? undefined : readMasterKey(daemon.dataDir);
  const { pendingWrites, lostPieces } = await disk.cut(cut);
  return {
    image: cut.path,
    moment: daemon === undefined ? 'start' : 'load',
    testKey: daemon?.testKey,
    masterKey,
    acknowledged,
    load,
    pendingWrites,
    lostPieces,
  };
}

export function createTestKeyLoad(random: SeededRandom, mix: Mix): Load {
  const from = `load@sandbox.${HOSTNAME}`;
  return new Load({ random, name: 'cut', from, recipientDomain: 'example.test', mix });
}

export function daemonEnvironment(synchronous: 'FULL' | 'NORMAL'): Record<string, string> {
  return {
    POSTRIDER_HOSTNAME: HOSTNAME,
    POSTRIDER_LOG_LEVEL: 'warn',
    ...(synchronous === 'NORMAL' ? { POSTRIDER_UNSAFE_SYNCHRONOUS: 'NORMAL' } : {}),
  };
}

export function readMasterKey(dataDir: string): string {
  return readFileSync(join(dataDir, 'master.key'), 'utf8');
}
