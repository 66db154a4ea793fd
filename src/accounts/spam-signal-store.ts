/**
 * Stores what the owner of an account says about spam: by moving messages to the folder for spam and out of it, and by keywords. All SQL of
 * the table is here, and nothing else writes it.
 */
import { sql } from 'kysely';
import { constant, type Param, statement } from '../db/statement.ts';
import type { AccountTx } from './store.ts';
import type { FolderRow, SpamSignalRow } from './tables.ts';

/** Maximum number of signals: the latest ones are kept. */
export const MAX_SIGNALS = 10_000;
/** Maximum number of messages of one change that count: who moves more at once does not look at each of them. */
export const MAX_SIGNALS_OF_CHANGE = 500;

const JUNK = '\\Junk';
const TRASH = '\\Trash';
const KEYWORDS: ReadonlyMap<string, SpamSignalRow['verdict']> = new Map([
  ['$junk', 'spam'],
  ['junk', 'spam'],
  ['$notjunk', 'ham'],
  ['nonjunk', 'ham'],
  ['notjunk', 'ham'],
]);

type Place = Pick<FolderRow, 'specialUse'>;

/** Returns what it means that messages go from one folder to another. Spam that goes to the trash is still spam. */
export function verdictOfMove(from: Place, to: Place): SpamSignalRow['verdict'] | undefined {
  if (from.specialUse === to.specialUse) return undefined;
  if (to.specialUse === JUNK) return 'spam';
  return from.specialUse === JUNK && to.specialUse !== TRASH ? 'ham' : undefined;
}

/** Returns what it means that messages of a folder get these flags. Apple's programs mark what they put into the trash as no spam. */
export function verdictOfFlags(
  { specialUse }: Place,
  names: readonly string[],
): SpamSignalRow['verdict'] | undefined {
  const verdicts = new Set(names.flatMap((name) => KEYWORDS.get(name.toLowerCase()) ?? []));
  const [verdict] = verdicts;
  if (verdicts.size !== 1 || (verdict === 'ham' && specialUse === TRASH)) return undefined;
  return verdict;
}

type Signalled = { folderId: number; uidFrom: number; uidTo: number; limit: number } & Pick<
  SpamSignalRow,
  'verdict' | 'modseq'
>;

const insertOfMessages = statement((db: AccountTx, param: Param<Signalled>) =>
  db
    .insertInto('spamSignals')
    .columns(['emailId', 'verdict', 'modseq'])
    .expression((select) =>
      select
        .selectFrom('messages')
        .select([
          'emailId',
          sql<'spam' | 'ham'>`${param('verdict')}`.as('verdict'),
          sql<number>`${param('modseq')}`.as('modseq'),
        ])
        .where('folderId', '=', constant(param('folderId')))
        .where('uid', '>=', constant(param('uidFrom')))
        .where('uid', '<=', constant(param('uidTo')))
        .orderBy('uid')
        .limit(constant(param('limit'))),
    )
    .onConflict((conflict) =>
      conflict.column('emailId').doUpdateSet((set) => ({
        verdict: set.ref('excluded.verdict'),
        modseq: set.ref('excluded.modseq'),
      })),
    )
    .returning('emailId'),
);

const forget = statement((db: AccountTx, param: Param<{ kept: number }>) =>
  db.deleteFrom('spamSignals').where('emailId', 'in', (where) =>
    where
      .selectFrom('spamSignals')
      .select('emailId')
      .orderBy('modseq', 'desc')
      .limit(constant(param('kept')))
      .offset(constant(param('kept'))),
  ),
);

type Ranges = readonly { uidFrom: number; uidTo: number }[];

/** Adds what a change says about messages of a folder, as part of the change, before it removes them. */
export async function recordSignals(
  tx: AccountTx,
  { ranges, ...signal }: Omit<Signalled, 'uidFrom' | 'uidTo' | 'limit'> & { ranges: Ranges },
): Promise<void> {
  let limit = MAX_SIGNALS_OF_CHANGE;
  for (const range of ranges) {
    if (limit === 0) break;
    limit -= (await insertOfMessages.all(tx, { ...signal, ...range, limit })).length;
  }
  await forget.all(tx, { kept: MAX_SIGNALS });
}

/** Returns the signals, the latest first. */
export function listSignals(tx: AccountTx): Promise<SpamSignalRow[]> {
  return tx.selectFrom('spamSignals').selectAll().orderBy('modseq', 'desc').orderBy('emailId').execute();
}
