/**
 * Carries out what the reader of an address decides about marketing mail. The decision is stored by the address, and
 * applied to every contact of the tenant that has it. It never creates a suppression: other mail still arrives.
 */

import type { App } from '../../app.ts';
import type { ContactRow, TopicRow } from '../../db/marketing-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { addressKey } from '../../mail/address.ts';
import { ALL_TOPICS, type Choices, storeDecision } from '../choices-store.ts';
import { recordDecision } from './change.ts';
import { mergeContact } from './merge.ts';
import { listContactsOfAddress, listTopicIds, updateContact } from './store.ts';

type Decision = Pick<ContactRow, 'tenantId'> & {
  /** Address of the reader, in any spelling. */
  address: string;
  /** Choices that change; `ALL_TOPICS` stands for all marketing mail. */
  choices: Choices;
};

type Slice = Decision & { after: ContactRow['audienceId'] | ''; now: number };

/** Returns the choices of a reader who unsubscribes from a topic, or from everything when the mail had no topic. */
export function choicesOfLeaving(topicId: TopicRow['id'] | undefined): Choices {
  return { [topicId ?? ALL_TOPICS]: false };
}

/**
 * Applies a decision to the contacts in the audiences after `after`, with their events. The first slice stores the
 * decision itself, so that it holds from this commit on, however many contacts there are. Returns the audience after
 * which the next slice begins, or undefined at the end.
 */
export const applyDecision = defineWrite(
  'contacts.decide',
  async (
    tx,
    { tenantId, choices, after, now, ...given }: Slice,
  ): Promise<ContactRow['audienceId'] | undefined> => {
    const address = addressKey(given.address);
    if (after === '') await storeDecision(tx, { tenantId, address }, choices);
    const { [ALL_TOPICS]: all, ...topics } = choices;
    const topicIds = await listTopicIds(tx, tenantId);
    const { contacts, hasMore } = await listContactsOfAddress(tx, { tenantId, address, after });
    for (const before of contacts) {
      const fields = { topics, ...(all !== undefined && { unsubscribed: !all }) };
      const contact = mergeContact(before, { fields, now, topicIds });
      if (contact === before) continue;
      await updateContact(tx, before, contact);
      await recordDecision(tx, before, { contact, now });
    }
    return hasMore ? contacts.at(-1)?.audienceId : undefined;
  },
  { priority: 'urgent' },
);

/** Carries out a decision. It holds when the first write has committed; the others bring further contacts up to date. */
export async function decide(app: Pick<App, 'db' | 'clock'>, decision: Decision): Promise<void> {
  const now = app.clock.now();
  let after: ContactRow['audienceId'] | '' | undefined = '';
  while (after !== undefined) after = await app.db.commit(applyDecision, { ...decision, after, now });
}
