/**
 * Imports files of contacts: reads the rows of a file, and stores them as contacts of an audience. The request decides whether
 * existing contacts are updated or left alone. An import never subscribes a contact again.
 */
import { defineWrite } from '../../db/operation.ts';
import { type ImportBatch, importRows } from '../../imports/batch.ts';
import { readTextCell, readValueCell, readYesNoCell, trimText } from '../../imports/cells.ts';
import type { ImportHandler } from '../../imports/handler.ts';
import { badHeading, quote } from '../../imports/headings.ts';
import { type FileOptions, readFileOptions } from '../../imports/options.ts';
import type { Standing } from '../../imports/products/consent-words.ts';
import { newId } from '../../system/ids.ts';
import { readContactFields } from '../contacts/fields.ts';
import { listTopicIds, putContact } from '../contacts/store.ts';
import { EXPORTED_FIELDS, forTextFields, givenTexts } from '../contacts/text-fields.ts';
import { readConsentRequest } from '../opt-in/consent.ts';
import { type Requester, requestConfirmation, requireOptIn } from '../opt-in/request.ts';
import { findAudience } from '../store.ts';
import { type ContactColumns, type KeyedColumn, readContactColumns } from './import-columns.ts';
import { type ContactImport, showImported, warnOfContacts } from './import-preview.ts';
import { readStanding, refuseClearOptOut } from './import-standing.ts';

/** Options of an import, as its job stores them. */
export type ContactImportOptions = FileOptions & {
  onConflict: 'update' | 'skip';
  /** The key that requested the import; confirmation mail is sent for it. Absent in jobs of earlier versions. */
  requester?: Omit<Requester, 'now'>;
};

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
  async readHeadings({ db, clock }, job, cells) {
    const columns = readContactColumns(cells, readFileOptions(job).mapping);
    const topicIds = await listTopicIds(db.read, job.tenantId);
    for (const { key } of columns.topics) {
      if (!topicIds.has(key))
        throw badHeading(`\`topics.${quote(key)}\` is not the id of one of your topics`);
    }
    const trim = isOwnExport(cells) ? (cell: string) => cell : trimText;
    return {
      emailColumn: columns.email,
      isHeadless: columns.isHeadless,
      columns: columns.uses,
      readRow(given) {
        const now = clock.now();
        return { ...readRow(columns, given, trim), id: newId('ct', now), now };
      },
    };
  },
  show: showImported,
  warn: warnOfContacts,
  write: importContacts,
};

/** Returns true for a file that our export has written. Its cells are exactly the values, with any spaces at their ends. */
function isOwnExport(cells: readonly string[]): boolean {
  return EXPORTED_FIELDS.every((field, column) => cells[column] === field);
}

type Trim = (cell: string) => string;

/**
 * Reads the fields of a contact from a row. An empty cell leaves its field out.
 * @throws AppError validation_error naming the field
 */
function readRow(columns: ContactColumns, cells: readonly string[], trim: Trim) {
  const cellAt = (column: number | undefined) => (column === undefined ? '' : trim(cells[column] ?? ''));
  const standing = readStanding(columns.consent, cells);
  const topics = readKeyed(columns.topics, ({ key, column }) =>
    readYesNoCell(`topics.${key}`, cellAt(column)),
  );
  const properties = readKeyed(columns.properties, ({ column, heading, isWatched }) => {
    const cell = cellAt(column);
    if (isWatched) refuseClearOptOut(heading, cell);
    return readValueCell(oneLine(cell));
  });
  const fields = readContactFields({
    email: readEmailCell(cells[columns.email] ?? ''),
    ...readTexts(columns, cellAt),
    ...(standing === 'unsubscribed' && { unsubscribed: true }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(topics.length > 0 && { topics: topics.map(asSubscription) }),
  });
  const isPending = readYesNoCell('pending', cellAt(columns.pending)) === true;
  const pending = readPending(fields, isPending, standing);
  return { ...fields, ...(pending && { pending }) };
}

function readPending(fields: { unsubscribed?: boolean }, isPending: boolean, standing: Standing | undefined) {
  if (!isPending && standing !== 'pending') return undefined;
  return readConsentRequest({ ...fields, status: 'pending' }, 'import');
}

/** Google writes several addresses into one cell with this text between them, the first of which is the main one. */
const ADDRESS_SEPARATOR = ' ::: ';

function readEmailCell(cell: string): string {
  const email = readTextCell(trimText(cell)) ?? '';
  return email.includes(ADDRESS_SEPARATOR) ? (email.split(ADDRESS_SEPARATOR)[0] ?? '') : email;
}

/** Returns the text fields of a row. A whole name is split at its first space, so that both parts together are what it was. */
function readTexts(columns: ContactColumns, cellAt: (column: number | undefined) => string) {
  const textAt = (column: number | undefined) => readTextCell(oneLine(cellAt(column)));
  const [firstName, ...rest] = textAt(columns.name)?.split(' ') ?? [];
  const ofWhole = { firstName, lastName: rest.length > 0 ? rest.join(' ') : undefined };
  const given = givenTexts(forTextFields((name) => textAt(columns.texts[name])));
  return { ...givenTexts(ofWhole), ...given };
}

/** Returns a cell as one line. Address books write postal addresses and notes with line breaks, which a field does not have. */
function oneLine(cell: string): string {
  return /[\r\n\t]/.test(cell) ? cell.replace(/[\r\n\t]+/g, ' ') : cell;
}

/** Reads the cells of such columns, and leaves the empty ones out. */
function readKeyed<Column extends KeyedColumn, Value>(
  columns: readonly Column[],
  read: (column: Column) => Value | undefined,
): [key: string, value: Value][] {
  return columns.flatMap((column) => {
    const value = read(column);
    return value === undefined ? [] : [[column.key, value] as [string, Value]];
  });
}

function asSubscription([id, isIn]: [key: string, value: boolean]) {
  return { id, subscription: isIn ? ('opt_in' as const) : ('opt_out' as const) };
}
