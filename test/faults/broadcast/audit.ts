/**
 * Reads the ledger of a data directory that nobody else has open, and compares it with what arrived. It looks at the tables
 * directly, so that no code of the daemon can speak for itself.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { auditDataDirectory } from '../audit.ts';
import { isInDoubt } from '../doubt.ts';
import type { Receipt } from '../judge.ts';

export type BroadcastVerdict = {
  broadcasts: number;
  /** Rows of all ledgers. */
  contacts: number;
  received: number;
  /** Messages that arrived again after an end that hit them in doubt. */
  duplicates: number;
  /** Largest number of messages that one end left in doubt and that arrived again. */
  maxDuplicatesOfAnEnd: number;
  faults: string[];
};

export type LedgerRow = {
  broadcastId: string;
  contactId: string;
  state: string;
  emailId: string | null;
  address: string;
};

/** Finds ledgers whose counts are not those of their rows. Read it while the daemon is down. */
export function auditCounts(dataDir: string): string[] {
  return withDatabase(dataDir, (database) =>
    database
      .prepare<[], { broadcastId: string; counts: string; rows: string }>(
        `SELECT * FROM (SELECT broadcastId,
           json_array(recipients, waiting, queued, delivered, bounced, suppressed, optedOut, canceled, failed, untried) AS counts,
           (SELECT json_array(count(*),
              ${['waiting', 'queued', 'delivered', 'bounced', 'suppressed', 'optedOut', 'canceled', 'failed']
                .map((state) => `count(*) FILTER (WHERE r.state = '${state}')`)
                .join(', ')},
              count(*) FILTER (WHERE r.state = 'queued' AND c.attempts = 0))
            FROM broadcastRecipients r LEFT JOIN recipients c ON c.messageId = r.emailId
            WHERE r.broadcastId = broadcastCounts.broadcastId) AS rows
         FROM broadcastCounts) WHERE counts <> rows`,
      )
      .all()
      .map(({ broadcastId, counts, rows }) => `${broadcastId} counts ${counts}, but its rows are ${rows}`),
  );
}

export type Ends = {
  /** Time at which each life ended, by its number. */
  endOfLifeMs: readonly number[];
  contacts: number;
  broadcasts: readonly string[];
};

/** Judges what arrived of broadcasts that have all ended. Read it while the daemon is down. */
export function judgeBroadcasts(
  dataDir: string,
  receipts: readonly Receipt[],
  { endOfLifeMs, contacts, broadcasts }: Ends,
): BroadcastVerdict {
  const rows = withDatabase(dataDir, (database) =>
    database
      .prepare<[], LedgerRow>(
        'SELECT broadcastId, contactId, state, emailId, address FROM broadcastRecipients',
      )
      .all(),
  );
  const faults = [...auditDataDirectory(dataDir, []).faults, ...auditCounts(dataDir)];
  const sizes = Map.groupBy(rows, ({ broadcastId }) => broadcastId);
  for (const id of broadcasts) {
    const size = sizes.get(id)?.length ?? 0;
    if (size !== contacts) faults.push(`${size} contacts in the ledger, not ${contacts}`);
  }
  const undelivered = rows.filter(({ state }) => state !== 'delivered');
  if (undelivered.length > 0) faults.push(`${undelivered.length} are ${undelivered[0]?.state}`);
  const comparison = compareReceipts(rows, receipts, endOfLifeMs);
  return {
    ...comparison,
    broadcasts: broadcasts.length,
    contacts: rows.length,
    faults: [...faults, ...comparison.faults],
  };
}

type Comparison = Pick<BroadcastVerdict, 'received' | 'duplicates' | 'maxDuplicatesOfAnEnd' | 'faults'>;

/** Compares ledgers with what arrived. */
export function compareReceipts(
  rows: readonly LedgerRow[],
  receipts: readonly Receipt[],
  endOfLifeMs: readonly number[],
): Comparison {
  const byEmail = Map.groupBy(receipts, ({ messageId }) => emailIdOf(messageId));
  const found = { lost: 0, strangers: 0, unexplained: 0, changed: 0, misdirected: 0 };
  const duplicatesOfEnds = new Map<number, number>();
  for (const { emailId, address } of rows) {
    const copies = byEmail.get(emailId ?? '') ?? [];
    byEmail.delete(emailId ?? '');
    if (copies.length === 0) found.lost++;
    for (const [index, receipt] of copies.entries()) {
      if (receipt.recipient !== address) found.misdirected++;
      const earlier = copies[index - 1];
      if (!earlier) continue;
      if (receipt.sha256 !== earlier.sha256) found.changed++;
      const end = endOfLifeMs[earlier.life];
      const isExplained = end !== undefined && receipt.life > earlier.life && isInDoubt(earlier.atMs, end);
      if (isExplained) duplicatesOfEnds.set(earlier.life, (duplicatesOfEnds.get(earlier.life) ?? 0) + 1);
      else found.unexplained++;
    }
  }
  found.strangers = byEmail.size;
  const wrong = Object.entries(found).flatMap(([what, count]) => (count > 0 ? [`${what}: ${count}`] : []));
  return {
    received: receipts.length,
    duplicates: [...duplicatesOfEnds.values()].reduce((sum, one) => sum + one, 0),
    maxDuplicatesOfAnEnd: Math.max(0, ...duplicatesOfEnds.values()),
    faults: wrong,
  };
}

/** Returns the id of the copy, which is the local part of its Message-ID. */
function emailIdOf(messageId: string): string {
  return messageId.slice(1).split('@', 1).join();
}

function withDatabase<Result>(dataDir: string, read: (database: Sqlite.Database) => Result): Result {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
