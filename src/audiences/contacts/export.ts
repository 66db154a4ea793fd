/**
 * Contacts of an audience, or of a segment of it, as a file that an import takes back. They are read twice: first for the
 * properties and topics they have, which become the columns, and then row by row. What a contact gets between the two and
 * no other had is not in the file.
 */
import type { App } from '../../app.ts';
import type { AudienceRow, ContactRow } from '../../db/marketing-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { ExportHandler, ExportSlice } from '../../exports/handler.ts';
import { guardText, guardValue } from '../../imports/cells.ts';
import { csvLine } from '../../imports/write-csv.ts';
import { AppError } from '../../system/errors.ts';
import type { Filter } from '../segments/filter.ts';
import { readSegmentSlice } from '../segments/store.ts';
import { findAudience } from '../store.ts';
import { readChoices, readProperties } from './merge.ts';
import { listContacts, listTopicIds } from './store.ts';

/** As a job keeps it. `segment`: its rules at the time of the request, and that time, which they may count from. */
export type ContactExportFilter = { unsubscribed?: boolean; segment?: { filter: Filter; now: number } };

/** The main thread takes over the text of all of them: at 32 KiB of properties each, in ten milliseconds or so. */
const SLICE_ROWS = 200;
/**
 * Of a segment: contacts looked at, however few are in it. A filter may take a millisecond for each (segments/scan.ts), and
 * two exports at the same time leave no thread to the others' long reads but between their slices.
 */
const SLICE_LOOKED_AT = 100;
/** Ours: five times what one contact may have. An import takes as many. */
export const MAX_PROPERTY_COLUMNS = 500;

const FIELD_HEADINGS = ['email', 'firstName', 'lastName', 'unsubscribed'];

type Slice = {
  tenantId: AudienceRow['tenantId'];
  audienceId: AudienceRow['id'];
  filter: ContactExportFilter;
  after: string | undefined;
};
type Columns = { properties: readonly string[]; topics: readonly string[] };

/** What the contacts of a slice have. */
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

/** @throws AppError invalid_state when the audience is gone: half of its contacts would look like all */
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
      scan: SLICE_LOOKED_AT,
      limit: SLICE_ROWS,
    });
    const wanted = unsubscribed === undefined ? undefined : unsubscribed ? 1 : 0;
    return {
      contacts: contacts.filter((contact) => wanted === undefined || contact.unsubscribed === wanted),
      last,
    };
  }
  const { items, hasMore } = await listContacts(tx, tenantId, audienceId, {
    limit: SLICE_ROWS,
    ...(after !== undefined && { startingAfter: after }),
    ...(unsubscribed !== undefined && { unsubscribed }),
  });
  return { contacts: items, last: hasMore ? items.at(-1)?.id : undefined };
}

function toLine(contact: ContactRow, columns: Columns): string {
  const { email, firstName, lastName, unsubscribed } = contact;
  const properties = new Map(Object.entries(readProperties(contact.properties)));
  const choices = new Map(Object.entries(readChoices(contact.topics)));
  return csvLine([
    guardText(email),
    firstName === null ? '' : guardText(firstName),
    lastName === null ? '' : guardText(lastName),
    String(unsubscribed === 1),
    ...columns.topics.map((id) => String(choices.get(id) ?? '')),
    ...columns.properties.map((key) => {
      const value = properties.get(key);
      return value === undefined ? '' : guardValue(value);
    }),
  ]);
}

export const contactExport: ExportHandler = {
  async open(app, job) {
    const { tenantId, audienceId } = job;
    if (audienceId === null) throw new Error('an export of contacts has an audience');
    const filter = JSON.parse(job.filter) as ContactExportFilter;
    const list = { tenantId, audienceId, filter };
    const columns = await findColumns(app, list);
    return {
      headings: [
        ...FIELD_HEADINGS,
        ...columns.topics.map((id) => `topics.${id}`),
        ...columns.properties.map((key) => `properties.${key}`),
      ],
      readSlice: (after) => app.db.query(exportSlice, { ...list, columns, after }),
    };
  },
};

/** In the order of the alphabet. @throws AppError invalid_state when there are more than a file may have */
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
