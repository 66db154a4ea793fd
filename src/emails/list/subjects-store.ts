/**
 * Searches the subjects of the newest emails. No index knows words, so a search reads a bounded number of the newest rows, and says how far it
 * has looked.
 */
import { defineRead, type Tx } from '../../db/operation.ts';
import { DAY_MS } from '../../system/clock.ts';
import { firstIdAt } from '../../system/ids.ts';
import type { EmailSummary } from '../show.ts';
import type { Filters } from './store.ts';

/** Maximum number of emails whose subjects one search reads: about 10 ms of a reader thread. */
export const MAX_EXAMINED = 5_000;

type SubjectSearch = Omit<Filters, 'filter'> & {
  /** Part of the subject, in any case of its letters. */
  text: string;
  days: number;
  limit: number;
  /** Unix milliseconds. */
  now: number;
};

type FoundSubjects = {
  /** The newest first. */
  emails: EmailSummary[];
  examined: number;
  /** Time of acceptance of the oldest email that was read, in Unix milliseconds; null when there was none. */
  since: number | null;
  /** True when the subjects of all emails within the days were read. */
  isComplete: boolean;
};

/** Returns the newest emails whose subjects contain a text. */
export const searchSubjects = defineRead(
  'emails.searchSubjects',
  async (tx, { text, days, limit, now, ...owner }: SubjectSearch): Promise<FoundSubjects> => {
    const { examined, own } = await newestEmails(tx, owner, firstIdAt('em', now - days * DAY_MS));
    const wanted = fold(text);
    const found = own.filter(({ subject }) => fold(subject).includes(wanted)).slice(0, limit);
    return {
      emails: await readSummaries(
        tx,
        found.map(({ id }) => id),
      ),
      examined: examined.length,
      since: examined.at(-1)?.createdAt ?? null,
      isComplete: examined.length < MAX_EXAMINED,
    };
  },
);

/** Letters are compared without regard to their case and to how they are composed. */
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

type Owner = Omit<Filters, 'filter'>;
type Examined = Pick<EmailSummary, 'id' | 'subject' | 'createdAt'>;

/** Returns the newest emails of the owner. Those of other domains count as read, because they bound the search too. */
async function newestEmails(
  tx: Tx,
  { tenantId, mode, domainId }: Owner,
  from: string,
): Promise<{ examined: readonly Examined[]; own: readonly Examined[] }> {
  const emails = tx
    .selectFrom('emails')
    .select(['emails.id', 'emails.subject', 'emails.createdAt'])
    .where('emails.tenantId', '=', tenantId)
    .where('emails.mode', '=', mode)
    .where('emails.id', '>=', from as EmailSummary['id'])
    .orderBy('emails.id', 'desc')
    .limit(MAX_EXAMINED);
  if (domainId === null) {
    const examined = await emails.execute();
    return { examined, own: examined };
  }
  const examined = await emails
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select('messages.domainId')
    .execute();
  return { examined, own: examined.filter((row) => row.domainId === domainId) };
}

async function readSummaries(tx: Tx, ids: readonly EmailSummary['id'][]): Promise<EmailSummary[]> {
  if (ids.length === 0) return [];
  return tx
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(['emails.id', 'fromHeader', 'toList', 'emails.subject', 'messages.status', 'emails.createdAt'])
    .where('emails.id', 'in', ids)
    .orderBy('emails.id', 'desc')
    .execute();
}
