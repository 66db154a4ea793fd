/** Checks an open account: its structure, its counts and the bytes of all messages. */
import { DamagedBlobError } from '../../blobs/damaged.ts';
import { DamagedDatabaseError } from '../../db/private-database.ts';
import { errorMessage } from '../../system/errors.ts';
import { createPause } from '../../system/next-turn.ts';
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

/** Maximum number of findings that are listed. Our own limit. */
const MAX_FINDINGS = 1_000;

type CheckReport = {
  /** Number of contents whose bytes were read. */
  contents: number;
  /** Findings in words for the operator, at most MAX_FINDINGS. A sound account has none. */
  findings: string[];
};

/** Checks an account while sessions use it. The bytes are read in small steps. */
export async function checkAccount(account: OpenAccount): Promise<CheckReport> {
  const report: CheckReport = { contents: 0, findings: [] };
  const add = (finding: string) => {
    if (report.findings.length < MAX_FINDINGS) report.findings.push(finding);
  };
  try {
    const { db } = account;
    for (const finding of await db.maintain((connection) =>
      findStructuralDamage(connection, { isQuick: false }),
    ))
      add(`${db.file}: ${finding}`);
    for (const { name, stored, counted } of await listWrongFolders(db.read))
      add(`the folder ${name} counts ${stored}, and has ${counted}`);
    for (const finding of await describeWrongAccount(db.read)) add(finding);
    await checkContents(account, report, add);
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    add(error.message);
  }
  return report;
}

async function checkContents(
  account: OpenAccount,
  report: CheckReport,
  add: (finding: string) => void,
): Promise<void> {
  const pause = createPause(account.app.clock);
  for (let after = 0; ; ) {
    const ids = await listContentIds(account.db.read, after);
    for (const id of ids) {
      const finding = await checkContent(account, id);
      if (finding !== undefined) add(finding);
      report.contents++;
      await pause();
    }
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
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
