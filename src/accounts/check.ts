/** Checks an open account: its structure, its counts and the bytes of all messages. */
import { DamagedBlobError } from '../blobs/damaged.ts';
import { DamagedDatabaseError } from '../db/private-database.ts';
import { errorMessage } from '../system/errors.ts';
import { createPause } from '../system/slices.ts';
import type { OpenAccount } from './account.ts';
import {
  describeWrongAccount,
  findStructuralDamage,
  listContentIds,
  listWrongFolders,
  placesOf,
} from './check-store.ts';
import { contentChunks } from './content.ts';
import { findContent } from './content-store.ts';
import { listFoldersWithPendingEdits } from './pending-edit-store.ts';
import { settleFlags } from './settle-flags.ts';

/** Maximum number of findings that are listed. */
const MAX_FINDINGS = 1_000;

export type CheckReport = {
  /** Number of contents whose bytes were read. */
  contents: number;
  /** Findings in words for the operator, at most MAX_FINDINGS. A sound account has none. */
  findings: string[];
  /** Id of the content behind which the check goes on; null when it is complete. */
  next: number | null;
};

/** Time after which a part of a check ends, in milliseconds, so that its caller gets an answer soon. Our own. */
const MAX_PART_MS = 10_000;

/**
 * Checks an account while sessions use it. The bytes are read in small steps.
 * @param after 0 for the first part, and then `next` of the part before
 */
export async function checkAccount(account: OpenAccount, after = 0): Promise<CheckReport> {
  const report: CheckReport = { contents: 0, findings: [], next: null };
  const add = (finding: string) => {
    if (report.findings.length < MAX_FINDINGS) report.findings.push(finding);
  };
  try {
    if (after === 0) await checkRows(account, add);
    report.next = await checkContents(account, { report, add, after });
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    add(error.message);
  }
  return report;
}

type Add = (finding: string) => void;

async function checkRows({ db }: OpenAccount, add: Add): Promise<void> {
  const damage = await db.maintain((connection) => findStructuralDamage(connection, { isQuick: false }));
  for (const finding of damage) add(`${db.file}: ${finding}`);
  for (const folderId of await listFoldersWithPendingEdits(db.read)) await settleFlags({ db }, folderId);
  for (const { name, stored, counted } of await listWrongFolders(db.read))
    add(`the folder ${name} counts ${stored}, and has ${counted}`);
  for (const finding of await describeWrongAccount(db.read)) add(finding);
}

async function checkContents(
  account: OpenAccount,
  { report, add, after }: { report: CheckReport; add: Add; after: number },
): Promise<number | null> {
  const { clock } = account.app;
  const pause = createPause(clock);
  const until = clock.elapsed() + MAX_PART_MS;
  for (let last = after; ; ) {
    const ids = await listContentIds(account.db.read, last);
    for (const id of ids) {
      const finding = await checkContent(account, id);
      if (finding !== undefined) add(finding);
      report.contents++;
      await pause();
      if (clock.elapsed() >= until) return id;
    }
    const end = ids.at(-1);
    if (end === undefined) return null;
    last = end;
  }
}

/** Returns what is wrong with the bytes of a content; undefined when nothing is, or when it was removed meanwhile. */
async function checkContent(account: OpenAccount, id: number): Promise<string | undefined> {
  try {
    for await (const _ of contentChunks(account, id)) {
    }
    return undefined;
  } catch (error) {
    if (error instanceof DamagedDatabaseError) throw error;
    if (!(await findContent(account.db.read, id))) return undefined;
    if (!(error instanceof DamagedBlobError)) throw error;
    const places = await placesOf(account.db.read, id);
    return `the message ${places.join(', ')} is damaged: ${errorMessage(error)}`;
  }
}
