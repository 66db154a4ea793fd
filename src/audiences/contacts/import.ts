/**
 * Imports files of contacts: reads the headings and rows of a file, and stores the rows as contacts of an audience. The
 * request decides whether existing contacts are updated or left alone. An import never subscribes a contact again.
 */
import { defineWrite } from '../../db/operation.ts';
import { type ImportBatch, importRows } from '../../imports/batch.ts';
import { readTextCell, readValueCell, readYesNoCell } from '../../imports/cells.ts';
import type { ImportHandler } from '../../imports/handler.ts';
import {
  assignColumns,
  badHeading,
  plainHeading,
  quote,
  requireEmailColumn,
} from '../../imports/headings.ts';
import { newId } from '../../system/ids.ts';
import { readConsentRequest } from '../opt-in/consent.ts';
import { type Requester, requestConfirmation, requireOptIn } from '../opt-in/request.ts';
import { findAudience } from '../store.ts';
import { PROPERTY_KEY, readContactFields } from './fields.ts';
import { listTopicIds, putContact, type WantedContact } from './store.ts';

/** Options of an import, as its job stores them. */
export type ContactImportOptions = {
  onConflict: 'update' | 'skip';
  /** The key that requested the import; confirmation mail is sent for it. Absent in jobs of earlier versions. */
  requester?: Omit<Requester, 'now'>;
};

type ContactImport = Omit<WantedContact, 'tenantId' | 'audienceId'>;

const importContacts = defineWrite(
  'contacts.import',
  (tx, batch: ImportBatch<ContactImport>) =>
    importRows(tx, batch, async ({ tenantId, audienceId, options }) => {
      const audience = audienceId === null ? undefined : await findAudience(tx, tenantId, audienceId);
      if (!audience) return { error: 'The audience was deleted' };
      const { onConflict, requester } = JSON.parse(options) as ContactImportOptions;
      return async (row) => {
        if (row.pending) requireOptIn(audience, 'pending');
        const wanted = { ...row, tenantId, audienceId: audience.id };
        const { outcome, contact } = await putContact(tx, wanted, onConflict);
        if (row.pending && requester && outcome !== 'skipped')
          await requestConfirmation(tx, contact, {
            requester: { ...requester, now: row.now },
            isChecked: false,
          });
        return outcome === 'unchanged' ? 'skipped' : outcome;
      };
    }),
  { priority: 'bulk' },
);

/** Import of the files of contacts, for the table of imports. */
export const contactImport: ImportHandler<ContactImport> = {
  async readHeadings({ db, clock }, { tenantId }, headings) {
    const places = assignColumns(headings, meaningOf);
    const emailColumn = requireEmailColumn(places);
    const columns = readColumns(places);
    const topicIds = await listTopicIds(db.read, tenantId);
    for (const { key } of columns.topics) {
      if (!topicIds.has(key))
        throw badHeading(`\`topics.${quote(key)}\` is not the id of one of your topics`);
    }
    return {
      emailColumn,
      readRow(cells) {
        const now = clock.now();
        return { ...readRow(columns, emailColumn, cells), id: newId('ct', now), now };
      },
    };
  },
  write: importContacts,
};

/** Fields of a contact, by the plain form of their headings. */
const FIELDS: Readonly<Record<string, string>> = {
  email: 'email',
  firstname: 'firstName',
  lastname: 'lastName',
  unsubscribed: 'unsubscribed',
  pending: 'pending',
};
const PREFIXES = ['properties', 'topics'] as const;
const KEY = new RegExp(PROPERTY_KEY);

/** Returns the meaning of a heading, such as `email`, `topics.top_…` or `properties.plan`. */
function meaningOf(heading: string, column: number): string {
  const text = heading.trim();
  if (text === '') throw badHeading(`Column ${column + 1} has no heading`);
  const field = Object.hasOwn(FIELDS, plainHeading(text)) ? FIELDS[plainHeading(text)] : undefined;
  if (field !== undefined) return field;
  for (const prefix of PREFIXES) {
    const dotted = `${prefix}.`;
    if (text.toLowerCase().startsWith(dotted)) return readKey(prefix, text.slice(dotted.length), text);
  }
  return readKey('properties', text, text);
}

function readKey(prefix: (typeof PREFIXES)[number], key: string, heading: string): string {
  if (prefix === 'topics' || KEY.test(key)) return `${prefix}.${key}`;
  throw badHeading(
    `\`${quote(heading)}\` cannot be a property: its name must be 1 to 64 letters, digits and underscores`,
  );
}

type KeyedColumn = { key: string; column: number };
type Columns = {
  firstName: number | undefined;
  lastName: number | undefined;
  unsubscribed: number | undefined;
  pending: number | undefined;
  properties: readonly KeyedColumn[];
  topics: readonly KeyedColumn[];
};

function readColumns(places: ReadonlyMap<string, number>): Columns {
  const keyed = (prefix: (typeof PREFIXES)[number]) =>
    [...places]
      .filter(([meaning]) => meaning.startsWith(`${prefix}.`))
      .map(([meaning, column]) => ({ key: meaning.slice(prefix.length + 1), column }));
  return {
    firstName: places.get('firstName'),
    lastName: places.get('lastName'),
    unsubscribed: places.get('unsubscribed'),
    pending: places.get('pending'),
    properties: keyed('properties'),
    topics: keyed('topics'),
  };
}

/**
 * Reads the fields of a contact from a row. An empty cell leaves its field out.
 * @throws AppError validation_error naming the field
 */
function readRow(columns: Columns, emailColumn: number, cells: readonly string[]) {
  const cellAt = (column: number | undefined) => (column === undefined ? '' : (cells[column] ?? ''));
  const firstName = readTextCell(cellAt(columns.firstName));
  const lastName = readTextCell(cellAt(columns.lastName));
  const unsubscribed = readYesNoCell('unsubscribed', cellAt(columns.unsubscribed));
  const isPending = readYesNoCell('pending', cellAt(columns.pending)) === true;
  const topics = readKeyed(columns.topics, ({ key, column }) =>
    readYesNoCell(`topics.${key}`, cellAt(column)),
  );
  const properties = readKeyed(columns.properties, ({ column }) => readValueCell(cellAt(column)));
  const fields = readContactFields({
    email: readTextCell(cellAt(emailColumn).trim()) ?? '',
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(unsubscribed !== undefined && { unsubscribed }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(topics.length > 0 && { topics: topics.map(asSubscription) }),
  });
  const pending = isPending ? readConsentRequest({ ...fields, status: 'pending' }, 'import') : undefined;
  return { ...fields, ...(pending && { pending }) };
}

/** Reads the cells of such columns, and leaves the empty ones out. */
function readKeyed<Value>(
  columns: readonly KeyedColumn[],
  read: (column: KeyedColumn) => Value | undefined,
): [key: string, value: Value][] {
  return columns.flatMap((column) => {
    const value = read(column);
    return value === undefined ? [] : [[column.key, value] as [string, Value]];
  });
}

function asSubscription([id, isIn]: [key: string, value: boolean]) {
  return { id, subscription: isIn ? ('opt_in' as const) : ('opt_out' as const) };
}
