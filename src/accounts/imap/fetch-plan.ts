/** Decides what FETCH must read for the items that a client asks for, so that everything else stays unread. */
import { type FetchItem, labelOf } from '../../mail/imap/fetch-item.ts';
import type { Column } from '../stored-message-store.ts';

export type FetchPlan = {
  items: readonly FetchItem[];
  /** The items need more than the state of the folder has in memory. */
  needsMessage: boolean;
  /** Columns that are read for many messages at once. */
  columns: readonly Column[];
  /** True when some of these columns can be long, so that fewer messages are read at once. */
  isDescribed: boolean;
  /** Columns with the octets of messages, which are read for few messages at once. */
  octetColumns: readonly Column[];
  /** The items show the flags. */
  showsFlags: boolean;
  /** Reading the items sets `\Seen`. */
  setsSeen: boolean;
  /** One of the items is made of octets, and they need no decoding. */
  hasOneSection: boolean;
  /** Names of the items that are made of octets, as the responses have them. */
  labels: ReadonlyMap<FetchItem, string>;
};

const IN_MEMORY: ReadonlySet<FetchItem['kind']> = new Set(['UID', 'FLAGS', 'MODSEQ']);

/** Returns the plan for these items. `utf8` tells that the client reads UTF-8. */
export function planFetch(items: readonly FetchItem[], { utf8 }: { utf8: boolean }): FetchPlan {
  const columns = new Set<Column>();
  const octetColumns = new Set<Column>();
  for (const item of items) {
    for (const column of columnsOf(item, utf8)) columns.add(column);
    if (needsHeader(item)) octetColumns.add('header');
    if (needsContent(item)) octetColumns.add('octets').add('headerBytes').add('crc32');
    if (needsRoot(item)) octetColumns.add('root');
  }
  // The sizes tell how many messages can be in memory at once.
  if (octetColumns.size > 0) columns.add('sizeBytes');
  if (octetColumns.size > 0) octetColumns.add('prefix');
  return {
    items,
    needsMessage: items.some(({ kind }) => !IN_MEMORY.has(kind)),
    columns: [...columns],
    isDescribed: items.some(({ kind }) => DESCRIPTIONS.has(kind)),
    octetColumns: [...octetColumns],
    showsFlags: items.some(({ kind }) => kind === 'FLAGS'),
    setsSeen: items.some((item) => 'peek' in item && !item.peek),
    hasOneSection: items.filter((item) => item.kind === 'SECTION').length === 1 && !items.some(isBinary),
    labels: new Map(items.flatMap((item) => ('partial' in item ? [[item, labelOf(item)]] : []))),
  };
}

const DESCRIPTIONS: ReadonlySet<FetchItem['kind']> = new Set([
  'PREVIEW',
  'ENVELOPE',
  'BODY',
  'BODYSTRUCTURE',
]);

/** Returns the columns that an item shows, except its octets. */
function columnsOf({ kind }: FetchItem, utf8: boolean): Column[] {
  if (kind === 'RFC822.SIZE') return ['sizeBytes'];
  if (kind === 'INTERNALDATE') return ['internalAt', 'internalZoneMinutes'];
  if (kind === 'EMAILID') return ['emailId'];
  if (kind === 'SAVEDATE') return ['savedAt'];
  if (kind === 'PREVIEW') return ['preview'];
  if (kind === 'ENVELOPE') return [utf8 ? 'envelopeUtf8' : 'envelope'];
  if (kind === 'BODY') return [utf8 ? 'bodyUtf8' : 'body'];
  return kind === 'BODYSTRUCTURE' ? [utf8 ? 'bodyStructureUtf8' : 'bodyStructure'] : [];
}

/** Returns true for a section that is found in the header of the whole message. */
export function isOfHeader(item: FetchItem & { kind: 'SECTION' }): boolean {
  const { part, text } = item.section;
  return part.length === 0 && text !== undefined && text.startsWith('HEADER');
}

function isBinary({ kind }: FetchItem): boolean {
  return kind === 'BINARY' || kind === 'BINARY.SIZE';
}

function needsHeader(item: FetchItem): boolean {
  return item.kind === 'SECTION' && isOfHeader(item);
}

function needsContent(item: FetchItem): boolean {
  return isBinary(item) || (item.kind === 'SECTION' && !isOfHeader(item));
}

function needsRoot(item: FetchItem): boolean {
  return isBinary(item) || (item.kind === 'SECTION' && item.section.part.length > 0);
}
