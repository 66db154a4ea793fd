/**
 * Stores what the scripts of mailboxes have done or seen, so that a reply is sent once in some days (RFC 5230 section 4.2) and a
 * duplicate is noticed (RFC 7352). All SQL of this table is here, and nothing else writes it.
 */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import type { MailboxRow, ScriptMemoryRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows } from '../../db/rows.ts';
import { constant, type Param, paramsOf, statement } from '../../db/statement.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { kindOf, type MemoryKey, type MemoryKind } from './memory-key.ts';

/**
 * Maximum number of rows of each kind of a mailbox. RFC 5230 section 4.2 asks for at least 1,000 replies.
 */
export const MAX_MEMORIES: Readonly<Record<MemoryKind, number>> = {
  duplicate: 2_000,
  note: 100,
  vacation: 2_000,
};
/** Maximum number of rows that one write removes. */
const SWEEP_ROWS = 1_000;

type MailboxId = MailboxRow['id'];
type Claim = Omit<ScriptMemoryRow, 'key'> & { key: MemoryKey; now: number };
type Claims = Omit<Claim, 'key'> & { keys: readonly MemoryKey[] };
type Range = { mailboxId: MailboxId; first: string; end: string };

const insert = statement((db, param: Param<Claim>) =>
  db
    .insertInto('scriptMemories')
    .values(paramsOf(param, ['mailboxId', 'key', 'claimedBy', 'expiresAt']))
    .onConflict((conflict) =>
      conflict
        .columns(['mailboxId', 'key'])
        .doUpdateSet((set) => ({
          claimedBy: set.ref('excluded.claimedBy'),
          expiresAt: set.ref('excluded.expiresAt'),
        }))
        .where((where) =>
          where.or([
            where('scriptMemories.expiresAt', '<=', param('now')),
            where('scriptMemories.claimedBy', '=', param('claimedBy')),
          ]),
        ),
    )
    .returning('key'),
);

const firstExcess = statement((db, param: Param<Range & { max: number }>) =>
  db
    .selectFrom('scriptMemories')
    .select(['key', 'expiresAt'])
    .where('mailboxId', '=', constant(param('mailboxId')))
    .where('key', '>=', constant(param('first')))
    .where('key', '<', constant(param('end')))
    .orderBy('expiresAt', 'desc')
    .limit(1)
    .offset(constant(param('max'))),
);

/**
 * Adds a row for a delivery. Returns false, and changes nothing, when another delivery has added one with this key that has not expired
 * at `now`, in Unix milliseconds, or when there are as many of its kind as there may be: who has written many messages must not be able to
 * get replies again. Only a message that may come twice is then forgotten, the one that expires first. A delivery that runs again gets the
 * answer of its first run.
 */
export async function claimMemory(tx: Tx, claim: Claim): Promise<boolean> {
  if (!(await insert.first(tx, claim))) return false;
  const { mailboxId, key, now } = claim;
  const kind = kindOf(key);
  const excess = await firstExcess.first(tx, { mailboxId, ...rangeOf(kind), max: MAX_MEMORIES[kind] });
  if (!excess) return true;
  const mayForget = kind === 'duplicate' || excess.expiresAt <= now;
  await deleteRows(tx, 'scriptMemories', { mailboxId, key: mayForget ? excess.key : key });
  return mayForget;
}

/** Returns the keys of a kind: a semicolon follows the colon that ends the kind. */
function rangeOf(kind: MemoryKind): Pick<Range, 'first' | 'end'> {
  return { first: `${kind}:`, end: `${kind};` };
}

const unexpired = statement((db, param: Param<Omit<Claim, 'expiresAt'>>) =>
  db
    .selectFrom('scriptMemories')
    .select('key')
    .where('mailboxId', '=', param('mailboxId'))
    .where('key', '=', param('key'))
    .where('claimedBy', '!=', param('claimedBy'))
    .where('expiresAt', '>', param('now')),
);

/** Returns those of the keys that another delivery has added, and that have not expired at `now`, in Unix milliseconds. */
export async function listClaimed(
  tx: Tx,
  { keys, ...claim }: Omit<Claims, 'expiresAt'>,
): Promise<readonly MemoryKey[]> {
  const claimed: MemoryKey[] = [];
  for (const key of keys) if (await unexpired.first(tx, { ...claim, key })) claimed.push(key);
  return claimed;
}

/** Claims rows for a delivery, all or none. Returns the keys that another delivery has; none when the rows are claimed. */
export const claimAll = defineWrite(
  'mailboxes.claimMemories',
  async (tx, { keys, ...claim }: Claims): Promise<readonly MemoryKey[]> => {
    const claimed = await listClaimed(tx, { keys, ...claim });
    if (claimed.length > 0) return claimed;
    for (const key of keys) await claimMemory(tx, { ...claim, key });
    return [];
  },
);

/** Claims a row in a write of its own. */
export const claim = defineWrite(
  'mailboxes.claimMemory',
  (tx, input: Claim): Promise<boolean> => claimMemory(tx, input),
);

/** Deletes all rows of a mailbox, as part of the write that deletes the mailbox. */
export async function deleteMemoriesOf(tx: Tx, mailboxId: MailboxId): Promise<void> {
  await deleteRows(tx, 'scriptMemories', { mailboxId });
}

const sweep = statement((db, param: Param<{ now: number }>) =>
  db
    .deleteFrom('scriptMemories')
    .where(({ refTuple, eb }) =>
      eb(
        refTuple('mailboxId', 'key'),
        'in',
        eb
          .selectFrom('scriptMemories')
          .select(['mailboxId', 'key'])
          .where('expiresAt', '<=', constant(param('now')))
          .limit(sql.lit(SWEEP_ROWS))
          .$asTuple('mailboxId', 'key'),
      ),
    )
    .returning('key'),
);

/** Deletes some of the rows that have expired, and returns their number. */
const sweepMemories = defineWrite(
  'mailboxes.sweepMemories',
  async (tx, { now }: { now: number }): Promise<number> => (await sweep.all(tx, { now })).length,
  { priority: 'bulk' },
);

const PERIOD_MS = 3_600_000;

/** Returns the work that removes expired memories of scripts. */
export function createMemorySweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'memories of scripts',
    periodMs: PERIOD_MS,
    async run() {
      let removed: number;
      do {
        removed = await app.db.commit(sweepMemories, { now: app.clock.now() });
      } while (removed > 0);
    },
  });
}
