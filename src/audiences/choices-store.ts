/**
 * Stores the choices about marketing mail by address. All SQL of this table is here, and nothing else writes it. Most rows
 * are an index of the contacts and are written with each of them (contacts/store.ts): an address can be in a thousand
 * audiences, and accepting mail must not read a thousand contacts to learn whether one of them opted out. Rows without a
 * contact are what the reader of an address has decided (contacts/decide.ts). They outlive every contact, so that no
 * import brings a reader back who has left.
 */
import { sql } from 'kysely';
import type { ContactChoiceRow, ContactRow, TopicRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import { addressKey } from '../mail/address.ts';

/** Topic id that stands for all marketing mail. A reader can only opt out of it. */
export const ALL_TOPICS = '';

/** Choices of topics, by the id of the topic. True means that the contact opted in. */
export type Choices = Record<string, boolean>;

/** Parses the choices of topics of a row. */
export function readChoices(json: ContactRow['topics']): Choices {
  return JSON.parse(json) as Choices;
}

/** Contact id of the choices that the reader of an address has made. */
const NO_CONTACT = '';

/** Columns of a contact that its choices are derived from. */
type Chooser = Pick<ContactRow, 'id' | 'tenantId' | 'address' | 'unsubscribed' | 'topics' | 'pending'>;

/**
 * Updates the choices when a contact changes from `before` to `after`. `before` is undefined for a new contact, `after` for
 * a deleted one. Every write of a contact calls it.
 */
export async function moveChoices(
  tx: Tx,
  before: Chooser | undefined,
  after: Chooser | undefined,
): Promise<void> {
  if (hasNoChoices(before) && hasNoChoices(after)) return;
  const isMoved = before?.address !== after?.address;
  const isEqual = CHOICE_COLUMNS.every((column) => before?.[column] === after?.[column]);
  if (isEqual && !isMoved) return;
  const [left, taken] = [choicesOf(before), choicesOf(after)];
  if (before) await write(tx, forget, rowsOf(before, isMoved ? left : without(left, taken)));
  if (after) await write(tx, remember, rowsOf(after, isMoved ? taken : without(taken, left)));
  if (before && after && !isMoved) await write(tx, forget, ownRows(after, returnedTo(left, taken)));
}

const CHOICE_COLUMNS = ['unsubscribed', 'topics', 'pending'] as const;

/** Returns the choices against mail that a changed contact no longer has: its owner or its reader has subscribed it again. */
function returnedTo(before: Choices, after: Choices): Choices {
  return Object.fromEntries(
    Object.entries(before).filter(([id, optedIn]) => !optedIn && after[id] !== false),
  );
}

/** Stores what the reader of an address has decided. A choice replaces an earlier one about the same topic. */
export async function storeDecision(tx: Tx, reader: Reader, choices: Choices): Promise<void> {
  await write(tx, forget, ownRows(reader, choices));
  const { [ALL_TOPICS]: all, ...topics } = choices;
  // There is no opt-in to all marketing mail. Without a row, each topic decides.
  await write(tx, remember, ownRows(reader, all === false ? { ...topics, [ALL_TOPICS]: false } : topics));
}

/** Returns what the reader of an address has decided. */
export async function findDecision(tx: Tx, { tenantId, address }: Reader): Promise<Choices> {
  const rows = await decided.all(tx, { tenantId, address });
  return Object.fromEntries(rows.map(({ topicId, optedIn }) => [topicId, optedIn === 1]));
}

/** Returns true for most contacts, at almost no cost: an import of a million of them must not slow down here. */
function hasNoChoices(contact: Chooser | undefined): boolean {
  return !contact || (contact.unsubscribed === 0 && contact.topics === '{}');
}

/** Returns the number of rows that a contact has in this table. */
export function countChoices(contact: Chooser): number {
  return Object.keys(choicesOf(contact)).length;
}

/**
 * Returns the choices that hold for the address of a contact. Anybody can fill in a form with the address of another person,
 * so the opt-ins of a pending contact do not hold before its reader has confirmed.
 */
function choicesOf(contact: Chooser | undefined): Choices {
  if (!contact) return {};
  const topics = Object.entries(readChoices(contact.topics)).filter(
    ([, optedIn]) => !optedIn || contact.pending === 0,
  );
  return { ...(contact.unsubscribed === 1 && { [ALL_TOPICS]: false }), ...Object.fromEntries(topics) };
}

function without(choices: Choices, others: Choices): Choices {
  return Object.fromEntries(Object.entries(choices).filter(([topicId, optIn]) => others[topicId] !== optIn));
}

type Reader = Pick<ContactChoiceRow, 'tenantId' | 'address'>;
type Written = Pick<ContactChoiceRow, 'tenantId' | 'address' | 'contactId'> & { choicesJson: string };

const decided = statement((db, param: Param<Reader>) =>
  db
    .selectFrom('contactChoices')
    .select(['topicId', 'optedIn'])
    .where('tenantId', '=', param('tenantId'))
    .where('address', '=', param('address'))
    .where('contactId', '=', sql.lit(NO_CONTACT)),
);

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

function rowsOf({ id: contactId, tenantId, address }: Chooser, choices: Choices): Written {
  return { tenantId, address, contactId, choicesJson: JSON.stringify(choices) };
}

function ownRows({ tenantId, address }: Reader, choices: Choices): Written {
  return { tenantId, address, contactId: NO_CONTACT, choicesJson: JSON.stringify(choices) };
}

async function write(tx: Tx, how: typeof remember | typeof forget, rows: Written): Promise<void> {
  if (rows.choicesJson !== '{}') await how.all(tx, rows);
}

type OptOutQuestion = {
  /** The topic of the mail; null when it has none. */
  topicId: TopicRow['id'] | null;
  /** Default of the topic. It applies to addresses that made no choice, contacts or not. */
  defaultOptIn: boolean;
  addresses: readonly string[];
};

/**
 * Returns the addresses that get no mail of this topic, each as its `addressKey`. An address is opted out when a contact
 * with it, in any audience of the tenant, is unsubscribed or opted out of the topic. When no contact made a choice, the
 * default of the topic decides.
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
    const isOut = (await chose(ALL_TOPICS, 0)) || (topicId !== null && (await chose(topicId, 0)));
    if (isOut || !(defaultOptIn || topicId === null || (await chose(topicId, 1)))) out.add(address);
  }
  return out;
}

type Choice = Omit<ContactChoiceRow, 'contactId'>;

/**
 * Finds one contact with the choice, or the reader's own. It reads more rows only while deleted audiences are not yet
 * cleared.
 */
const firstToChoose = statement((db, param: Param<Choice>) =>
  db
    .selectFrom('contactChoices')
    .leftJoin('contacts', 'contacts.id', 'contactChoices.contactId')
    .leftJoin('audiences', 'audiences.id', 'contacts.audienceId')
    .select('contactChoices.contactId')
    .where('contactChoices.tenantId', '=', constant(param('tenantId')))
    .where('contactChoices.address', '=', constant(param('address')))
    .where('contactChoices.topicId', '=', constant(param('topicId')))
    .where('contactChoices.optedIn', '=', constant(param('optedIn')))
    .where(({ or, and, eb }) =>
      or([
        eb('contactChoices.contactId', '=', sql.lit(NO_CONTACT)),
        and([eb('audiences.id', 'is not', null), eb('audiences.deletedAt', 'is', null)]),
      ]),
    )
    .limit(sql.lit(1)),
);

async function hasChosen(tx: Tx, choice: Choice): Promise<boolean> {
  return (await firstToChoose.first(tx, choice)) !== undefined;
}
