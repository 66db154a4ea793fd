/** A cut as it is taken: the image of the disk, and what the daemon had promised before. Judged by `cut-judge.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonProcess } from '../support/daemon.ts';
import type { Cut, VolatileDisk } from './disk/volatile-disk.ts';
import { Ledger, type LedgerSnapshot } from './ledger.ts';
import { Load } from './load.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Mix, Submission } from './submission.ts';

/**
 * Moment of the cut: during the first start, when nothing was acknowledged yet; under load; while the daemon drains
 * after SIGTERM; during the start after another cut; during the start on a database of the previous version; after a
 * failed write.
 */
export type Moment = 'start' | 'load' | 'drain' | 'second' | 'migration' | 'error';

export type TakenCut = {
  image: string;
  moment: Moment;
  testKey: string | undefined;
  masterKey: string | undefined;
  acknowledged: readonly Submission[];
  load: Load;
  ledger: Ledger;
  /** Snapshot of the ledger before the cut. */
  promised: LedgerSnapshot;
  /** Paths of the API that must answer with 200 as well. */
  stored: readonly string[];
  /** Ids of messages that had no recipients before the daemon started: the fixture of the previous version has some. */
  bareMessages: readonly string[];
  pendingWrites: number;
  lostPieces: number;
};

/** `load` sends email, and `ledger` changes everything else. */
export type Clients = { load: Load; ledger: Ledger };

const HOSTNAME = 'mail.test';

export async function takeCut(
  disk: VolatileDisk,
  cut: Cut,
  { moment, daemon, clients }: { moment: Moment; daemon: DaemonProcess | undefined; clients: Clients },
): Promise<TakenCut> {
  const { load, ledger } = clients;
  // What counts is settled before the cut is asked for: an answer read later proves nothing about it.
  const acknowledged = structuredClone(load.acknowledged);
  const promised = ledger.snapshot();
  const masterKey = daemon === undefined ? undefined : readMasterKey(daemon.dataDir);
  const { pendingWrites, lostPieces } = await disk.cut(cut);
  return {
    image: cut.path,
    moment,
    testKey: daemon?.testKey,
    masterKey,
    acknowledged,
    load,
    ledger,
    promised,
    stored: [],
    bareMessages: [],
    pendingWrites,
    lostPieces,
  };
}

/** Creates clients for the first test key of a data directory. */
export function createClients(random: SeededRandom, mix: Mix, name = 'cut'): Clients {
  const from = `load@sandbox.${HOSTNAME}`;
  return {
    load: new Load({ random, name, from, recipientDomain: 'example.test', mix }),
    ledger: new Ledger(random, name),
  };
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
