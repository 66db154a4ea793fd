/**
 * Judges what a cut left: a new daemon must start on it, know every email acknowledged before, and work on; then the
 * tables and the bytes are read without it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { auditDataDirectory } from './audit.ts';
import { mountImage } from './disk/volatile-disk.ts';
import { acceptedId } from './load.ts';
import { withRetries } from './retries.ts';
import { firstId, type Submission } from './submission.ts';
import { daemonEnvironment, readMasterKey, type TakenCut } from './taken-cut.ts';

export type CutVerdict = {
  moment: TakenCut['moment'];
  acknowledged: number;
  /** Number of resources besides emails that were acknowledged before the cut. */
  promised: number;
  withFile: number;
  /** At the moment of the cut, and the pieces of them that did not survive. */
  pendingWrites: number;
  lostPieces: number;
  /** Acknowledged emails that are not there, or whose bytes are not. */
  missing: number;
  unreadable: number;
  /** Emails that were canceled before the cut and are not now. */
  uncanceled: number;
  /** Anything else that is wrong after the cut, in words. */
  faults: string[];
};

/** Returns the number of acknowledged changes that are not there. */
export function lostIn(verdict: CutVerdict): number {
  return verdict.missing + verdict.unreadable + verdict.uncanceled;
}

/** Emails asked for through the API; the tables are read for all of them. */
const API_SAMPLE = 50;

/** `mountPoint` is made, and used only while this runs. The image is removed. */
export async function judgeCut(cut: TakenCut, mountPoint: string): Promise<CutVerdict> {
  using cleanUp = new DisposableStack();
  cleanUp.defer(() => rmSync(cut.image));
  cleanUp.use(await mountImage(cut.image, mountPoint));
  const dataDir = join(mountPoint, 'data');
  const faults = await faultsOfRestart(cut, dataDir);
  const audit = auditDataDirectory(dataDir, cut.acknowledged, cut.bareMessages);
  return {
    moment: cut.moment,
    acknowledged: cut.acknowledged.length,
    promised: cut.promised.length,
    withFile: cut.acknowledged.filter(({ kind }) => kind === 'file').length,
    pendingWrites: cut.pendingWrites,
    lostPieces: cut.lostPieces,
    missing: audit.missing.length,
    unreadable: audit.unreadable.length,
    uncanceled: audit.uncanceled.length,
    faults: [...faults, ...audit.faults],
  };
}

/** Starts the daemon on what the cut left, asks it for mail, gives it new mail, and stops it. */
async function faultsOfRestart(cut: TakenCut, dataDir: string): Promise<string[]> {
  const faults: string[] = [];
  let daemon: DaemonProcess;
  try {
    daemon = await startDaemonProcess({ dataDir, env: daemonEnvironment('FULL') });
  } catch (error) {
    return [`the daemon does not start: ${String(error)}`];
  }
  try {
    const key = cut.testKey ?? daemon.testKey;
    if (cut.masterKey !== undefined && readMasterKey(dataDir) !== cut.masterKey) {
      faults.push('the master key is another');
    }
    if (key !== undefined) faults.push(...(await faultsOfApi(cut, daemon, key)));
    // A power cut takes nothing that `installation.json` records: the start must not report an older copy, or a missing
    // part of the WAL.
    const alarm = /^Warning: .*$/m.exec(daemon.output());
    if (alarm) faults.push(`a false alarm at start: ${alarm[0]}`);
    await daemon.stop();
  } catch (error) {
    faults.push(String(error));
    await daemon.kill('SIGKILL');
  }
  return faults;
}

async function faultsOfApi(cut: TakenCut, daemon: DaemonProcess, key: string): Promise<string[]> {
  const { acknowledged, load, ledger, promised, stored } = cut;
  const faults = await ledger.faults(daemon, key, promised);
  for (const path of stored) {
    const { status } = await withRetries(() => daemon.request('GET', path, key));
    if (status !== 200) faults.push(`GET ${path} answers ${status}`);
  }
  const send = (submission: Submission) => withRetries(() => load.send(daemon, key, submission));
  for (const submission of acknowledged.slice(-API_SAMPLE)) {
    const id = firstId(submission);
    const { status } = await withRetries(() => daemon.request('GET', `/v1/emails/${id}`, key));
    if (status !== 200) faults.push(`GET of an acknowledged email answers ${status}`);
    if (acceptedId(await send(submission)) !== id) {
      faults.push('a repeated Idempotency-Key is not answered with the same email');
    }
  }
  const fresh: Submission = {
    idempotencyKey: 'after',
    recipient: 'after@example.test',
    kind: 'file',
    scheduledAtMs: undefined,
    cancellation: 'none',
    answeredIds: [],
  };
  if (acceptedId(await send(fresh)) === undefined) faults.push('new mail is not accepted');
  return faults;
}
