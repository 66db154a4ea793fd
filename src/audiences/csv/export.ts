/**
 * Exports the contacts of an audience, or of one of its segments, to a file that an import accepts. The contacts are read
 * twice: first to find the properties and topics that become columns, then row by row. A property that first appears
 * between the two is not in the file.
 */

import type { App } from '../../app.ts';
import type { AudienceRow, ContactRow } from '../../db/marketing-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { ExportHandler, ExportSlice } from '../../exports/handler.ts';
import { guardText, guardValue } from '../../imports/cells.ts';
import { csvLine } from '../../imports/write-csv.ts';
import { AppError } from '../../system/errors.ts';
import { readChoices } from '../choices-store.ts';
import { MAX_PROPERTIES, readProperties } from '../contacts/merge.ts';
import { listContacts, listTopicIds } from '../contacts/store.ts';
import { EXPORTED_FIELDS, TEXT_FIELD_NAMES } from '../contacts/text-fields.ts';
import { isPending } from '../opt-in/consent.ts';
import type { Filter } from '../segments/filter.ts';
import { readSegmentSlice } from '../segments/store.ts';
import { findAudience } from '../store.ts';

/**
 * Filter of an export, as its job stores it. `segment` has the rules at the time of the request and that time in Unix
 * milliseconds, because rules such as `within_days` count from it.
 */
export type ContactExportFilter = { unsubscribed?: boolean; segment?: { filter: Filter; now: number } };

/**
 * Maximum number of contacts in one slice. The main thread receives their text, which takes about 10 ms when each contact
 * has 32 KiB of properties.
 */
const MAX_SLICE_CONTACTS = 200;
/**
 * Maximum number of contacts that one slice of a segment scans. A filter can take a millisecond for each
 * (segments/scan.ts), and two exports can occupy all reader threads, which other long reads get only between slices.
 */
const MAX_SLICE_SCAN = 100;
/** Maximum number of columns for properties: five times what one contact can have. An import accepts as many. */
export const MAX_PROPERTY_COLUMNS = 5 * MAX_PROPERTIES;

type Slice = {
  tenantId: AudienceRow['tenantId'];
  audienceId: AudienceRow['id'];
  filter: ContactExportFilter;
  after: string | undefined;
};
type Columns = { properties: readonly string[]; topics: readonly string[] };

/** Returns the properties and topics that the contacts of a slice have. */
const exportKeys = defineRead(
  'contacts.exportKeys',
  async (tx, slice: Slice): Promise<Columns & Pick<ExportSlice, 'last'>> => {
    const { contacts, last } = await readContacts(tx, slice);
    const properties = new Set<string>();
    const topics = new Set<string>();
    for (const contact of contacts) {
      for (const key of Object.keys(readProperties(contact.properties))) properties.add(key);
      for (const id of Object.keys(readChoices(contact.topics))) topics.add(id);
    }
    return { properties: [...properties], topics: [...topics], last };
  },
);

const exportSlice = defineRead(
  'contacts.exportSlice',
  async (tx, { columns, ...slice }: Slice & { columns: Columns }): Promise<ExportSlice> => {
    const { contacts, last } = await readContacts(tx, slice);
    return { csv: contacts.map((contact) => toLine(contact, columns)).join(''), rows: contacts.length, last };
  },
);

/**
 * Reads the contacts of a slice. `last` is where the next slice continues, or undefined at the end.
 * @throws AppError invalid_state when the audience is deleted, because a part of its contacts would look like all of them
 */
async function readContacts(
  tx: Tx,
  { tenantId, audienceId, filter, after }: Slice,
): Promise<{ contacts: ContactRow[]; last: string | undefined }> {
  if (!(await findAudience(tx, tenantId, audienceId)))
    throw new AppError('invalid_state', 'The audience was deleted');
  const { segment, unsubscribed } = filter;
  if (segment) {
    const { contacts, last } = await readSegmentSlice.run(tx, {
      tenantId,
      audienceId,
      ...segment,
      after: after as ContactRow['id'] | undefined,
      scan: MAX_SLICE_SCAN,
      limit: MAX_SLICE_CONTACTS,
    });
    const wanted = unsubscribed === undefined ? undefined : unsubscribed ? 1 : 0;
    return {
      contacts: contacts.filter((contact) => wanted === undefined || contact.unsubscribed === wanted),
      last,
    };
  }
  const { items, hasMore } = await listContacts(tx, tenantId, {
    audienceId,
    limit: MAX_SLICE_CONTACTS,
    ...(after !== undefined && { startingAfter: after }),
    ...(unsubscribed !== undefined && { unsubscribed }),
  });
  return { contacts: items, last: hasMore ? items.at(-1)?.id : undefined };
}

function toLine(contact: ContactRow, columns: Columns): string {
  const { email, unsubscribed } = contact;
  const properties = new Map(Object.entries(readProperties(contact.properties)));
  const choices = new Map(Object.entries(readChoices(contact.topics)));
  return csvLine([
    guardText(email),
    ...TEXT_FIELD_NAMES.map((name) => {
      const text = contact[name];
      return text === null ? '' : guardText(text);
    }),
    String(unsubscribed === 1),
    String(isPending(contact)),
    ...columns.topics.map((id) => String(choices.get(id) ?? '')),
    ...columns.properties.map((key) => {
      const value = properties.get(key);
      return value === undefined ? '' : guardValue(value);
    }),
  ]);
}

/** Export of the files of contacts, for the table of exports. */
export const contactExport: ExportHandler = {
  async open(app, job) {
    const { tenantId, audienceId } = job;
    if (audienceId === null) throw new Error('an export of contacts has an audience');
    const filter = JSON.parse(job.options) as ContactExportFilter;
    const list = { tenantId, audienceId, filter };
    const columns = await findColumns(app, list);
    return {
      headings: [
        ...EXPORTED_FIELDS,
        ...columns.topics.map((id) => `topics.${id}`),
        ...columns.properties.map((key) => `properties.${key}`),
      ],
      readSlice: (after) => app.db.query(exportSlice, { ...list, columns, after }),
    };
  },
};

/**
 * Returns the properties and topics of all contacts, in alphabetical order.
 * @throws AppError invalid_state when there are more properties than a file can have columns
 */
async function findColumns({ db }: Pick<App, 'db'>, list: Omit<Slice, 'after'>): Promise<Columns> {
  const properties = new Set<string>();
  const topics = new Set<string>();
  let after: string | undefined;
  do {
    const found = await db.query(exportKeys, { ...list, after });
    for (const key of found.properties) properties.add(key);
    for (const id of found.topics) topics.add(id);
    if (properties.size > MAX_PROPERTY_COLUMNS) {
      throw new AppError(
        'invalid_state',
        `The contacts have more than ${MAX_PROPERTY_COLUMNS} different properties; export them by segments`,
      );
    }
    after = found.last;
  } while (after !== undefined);
  const live = await listTopicIds(db.read, list.tenantId);
  return { properties: [...properties].sort(), topics: [...topics].filter((id) => live.has(id)).sort() };
}
