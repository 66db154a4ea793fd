/**
 * What contacts chose of marketing mail, by their address: all SQL, and the only writer of the table. It says nothing that
 * the contacts do not say, and is written with each of them (contacts/store.ts): an address may stand in a thousand
 * audiences, and before mail is accepted nobody reads so many contacts to learn what one of them chose.
 */
import { sql } from 'kysely';
import type { ContactChoiceRow, ContactRow, TopicRow } from '../../../db/marketing-tables.ts';
import type { Tx } from '../../../db/operation.ts';
import { constant, type Param, statement } from '../../../db/statement.ts';
import { addressKey } from '../../../mail/address.ts';
import { type Choices, readChoices } from '../merge.ts';

/** Stands for all marketing mail, which a contact may only leave. */
const ALL_TOPICS = '';

/** Of a contact, what its choices are made of. */
type Chooser = Pick<ContactRow, 'id' | 'tenantId' | 'address' | 'unsubscribed' | 'topics'>;

/** Part of every write of a contact, which becomes `after` of `before`; a new one was not there, a deleted one will not be. */
export async function moveChoices(
  tx: Tx,
  before: Chooser | undefined,
  after: Chooser | undefined,
): Promise<void> {
  if (isSilent(before) && isSilent(after)) return;
  const isMoved = before?.address !== after?.address;
  if (!isMoved && before?.unsubscribed === after?.unsubscribed && before?.topics === after?.topics) return;
  const [left, taken] = [choicesOf(before), choicesOf(after)];
  if (before) await write(tx, forget, before, isMoved ? left : without(left, taken));
  if (after) await write(tx, remember, after, isMoved ? taken : without(taken, left));
}

/** As most are: a file of a million of them costs nothing here. */
function isSilent(contact: Chooser | undefined): boolean {
  return !contact || (contact.unsubscribed === 0 && contact.topics === '{}');
}

/** The rows it has here. */
export function countChoices(contact: Chooser): number {
  return Object.keys(choicesOf(contact)).length;
}

function choicesOf(contact: Chooser | undefined): Choices {
  if (!contact) return {};
  return { ...(contact.unsubscribed === 1 && { [ALL_TOPICS]: false }), ...readChoices(contact.topics) };
}

function without(choices: Choices, others: Choices): Choices {
  return Object.fromEntries(Object.entries(choices).filter(([topicId, optIn]) => others[topicId] !== optIn));
}

type Written = Pick<ContactChoiceRow, 'tenantId' | 'address' | 'contactId'> & { choicesJson: string };

const remember = statement((db, param: Param<Written>) =>
  db
    .insertInto('contactChoices')
    .columns(['tenantId', 'address', 'topicId', 'optedIn', 'contactId'])
    .expression(
      sql`SELECT ${param('tenantId')}, ${param('address')}, key, value, ${param('contactId')}
          FROM json_each(${param('choicesJson')})`,
    ),
);

const forget = statement((db, param: Param<Written>) =>
  db
    .deleteFrom('contactChoices')
    .where('tenantId', '=', param('tenantId'))
    .where('address', '=', param('address'))
    .where(
      'topicId',
      'in',
      sql<ContactChoiceRow['topicId']>`(SELECT key FROM json_each(${param('choicesJson')}))`,
    )
    .where('optedIn', 'in', [0, 1])
    .where('contactId', '=', param('contactId')),
);

async function write(
  tx: Tx,
  how: typeof remember | typeof forget,
  { id: contactId, tenantId, address }: Chooser,
  choices: Choices,
): Promise<void> {
  if (Object.keys(choices).length === 0) return;
  await how.all(tx, { tenantId, address, contactId, choicesJson: JSON.stringify(choices) });
}

export type OptOutQuestion = {
  topicId: TopicRow['id'];
  /** Of the topic: speaks for who chose nothing, contacts or not. */
  defaultOptIn: boolean;
  addresses: readonly string[];
};

/**
 * Those of `addresses` that get no mail of this topic, each as its `addressKey`: a contact with the address, in any of the
 * tenant's audiences, is unsubscribed or opted out of the topic; or none chose, and the topic's default is out (api.md 1.6).
 */
export async function findOptedOut(
  tx: Tx,
  tenantId: ContactRow['tenantId'],
  { topicId, defaultOptIn, addresses }: OptOutQuestion,
): Promise<Set<string>> {
  const out = new Set<string>();
  for (const address of new Set(addresses.map(addressKey))) {
    const chose = (topic: Choice['topicId'], optedIn: 0 | 1) =>
      hasChosen(tx, { tenantId, address, topicId: topic, optedIn });
    const isOut = (await chose(ALL_TOPICS, 0)) || (await chose(topicId, 0));
    if (isOut || !(defaultOptIn || (await chose(topicId, 1)))) out.add(address);
  }
  return out;
}

type Choice = Omit<ContactChoiceRow, 'contactId'>;

/** Stops at the first: reads more than one only of audiences that are deleted and not yet cleared. */
const firstToChoose = statement((db, param: Param<Choice>) =>
  db
    .selectFrom('contactChoices')
    .innerJoin('contacts', 'contacts.id', 'contactChoices.contactId')
    .innerJoin('audiences', 'audiences.id', 'contacts.audienceId')
    .select('contactChoices.contactId')
    .where('contactChoices.tenantId', '=', constant(param('tenantId')))
    .where('contactChoices.address', '=', constant(param('address')))
    .where('contactChoices.topicId', '=', constant(param('topicId')))
    .where('contactChoices.optedIn', '=', constant(param('optedIn')))
    .where('audiences.deletedAt', 'is', null)
    .limit(sql.lit(1)),
);

async function hasChosen(tx: Tx, choice: Choice): Promise<boolean> {
  return (await firstToChoose.first(tx, choice)) !== undefined;
}
