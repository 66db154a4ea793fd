/** Writes the FETCH response of one message from what was read of it. */
import { writeInternalDate } from '../../../mail/imap/encode/fetch.ts';
import { writeBinary, writeSection } from '../../../mail/imap/encode/section.ts';
import { type FetchItem, labelOf } from '../../../mail/imap/fetch-item.ts';
import type { StoredMessage } from '../stored-message-store.ts';
import { type FetchPlan, isOfHeader } from './fetch-plan.ts';
import type { Responses } from './responses.ts';
import { MessageOctets } from './sections.ts';
import { flagsItem, type SelectedState } from './session-state.ts';
import type { Entry } from './view.ts';

/** A message as FETCH answers it. */
export type Fetched = {
  entry: Entry;
  /** The stored message, when the items need it. */
  stored: StoredMessage | undefined;
  /** Reading the message has set `\Seen`. */
  isNewlySeen: boolean;
};

/** Whole content of a large message, which is read while it is sent. */
type StreamedItem = { head: string; first: readonly Buffer[]; rest: AsyncGenerator<Buffer> };
type WireItem = string | readonly Buffer[] | StreamedItem;

/** Items that are made of octets of the message. */
type OctetItems = {
  wire: ReadonlyMap<FetchItem, WireItem>;
  /** An item is left out, because its transfer encoding is unknown. */
  isUnknown: boolean;
};

/** Result for items that need no octets. */
export const NO_OCTETS: OctetItems = { wire: new Map(), isUnknown: false };

/** Reads the items that are made of octets. */
export async function readOctetItems(
  { shared }: SelectedState,
  { stored }: Fetched,
  { items }: FetchPlan,
): Promise<OctetItems> {
  if (!stored) return NO_OCTETS;
  const octets = new MessageOctets(shared.account, stored);
  const wire = new Map<FetchItem, WireItem>();
  let isUnknown = false;
  for (const item of items) {
    if (item.kind === 'SECTION') wire.set(item, await readSection(octets, stored, item));
    if (item.kind !== 'BINARY' && item.kind !== 'BINARY.SIZE') continue;
    const decoded = await octets.binary(item);
    if (decoded === 'unknown') isUnknown = true;
    else if (item.kind === 'BINARY') wire.set(item, writeBinary(labelOf(item), decoded));
    else wire.set(item, `BINARY.SIZE[${item.part.join('.')}] ${decoded?.length ?? 0}`);
  }
  return { wire, isUnknown };
}

async function readSection(
  octets: MessageOctets,
  { prefix, sizeBytes }: StoredMessage,
  item: FetchItem & { kind: 'SECTION' },
): Promise<WireItem> {
  const { section, partial } = item;
  const isWhole = section.part.length === 0 && section.text === undefined && !partial;
  const rest = isWhole ? octets.stream() : undefined;
  if (rest) {
    // A file that cannot be read is noticed before its size is told.
    const { value } = await rest.next();
    const first = [Buffer.from(prefix), ...(value ? [value] : [])];
    return { head: `${labelOf(item)} {${sizeBytes}}\r\n`, first, rest };
  }
  return writeSection(labelOf(item), await octets.section(item, isOfHeader(item)));
}

type Answer = { plan: FetchPlan; octets: OctetItems; responses: Responses };

/** Adds the response for a message. */
export function writeResponse(
  selected: SelectedState,
  message: Fetched,
  { plan, octets, responses }: Answer,
): void {
  let text = `* ${message.entry.number} FETCH (`;
  let separator = '';
  for (const item of plan.items) {
    const wire = octets.wire.get(item) ?? writeItem(selected, message, item);
    if (wire === undefined) continue;
    text += separator;
    separator = ' ';
    if (typeof wire === 'string') {
      text += wire;
      continue;
    }
    responses.add(text);
    text = '';
    addWire(responses, wire);
  }
  for (const item of message.isNewlySeen ? unaskedItems(selected, plan) : []) {
    text += `${separator}${writeItem(selected, message, item)}`;
    separator = ' ';
  }
  if (separator !== '') responses.add(`${text})\r\n`);
}

function addWire(responses: Responses, wire: Exclude<WireItem, string>): void {
  if (!('rest' in wire)) {
    for (const piece of wire) responses.addOctets(piece);
    return;
  }
  responses.add(wire.head);
  for (const piece of wire.first) responses.addOctets(piece);
  responses.addStream(wire.rest);
}

/** Returns the items that tell the client about `\Seen` and that it has not asked for. */
function unaskedItems({ features }: SelectedState, { items }: FetchPlan): FetchItem[] {
  const wanted: FetchItem[] = [
    { kind: 'FLAGS' },
    ...(features().condstore ? [{ kind: 'MODSEQ' } as const] : []),
  ];
  return wanted.filter(({ kind }) => items.every((item) => item.kind !== kind));
}

/** Returns an item that is not made of octets. */
function writeItem(
  selected: SelectedState,
  { entry, stored }: Fetched,
  { kind }: FetchItem,
): string | undefined {
  if (kind === 'UID') return `UID ${entry.uid}`;
  if (kind === 'FLAGS') return flagsItem(selected, entry);
  if (kind === 'MODSEQ') return `MODSEQ (${entry.modseq})`;
  if (!stored) return undefined;
  if (kind === 'RFC822.SIZE') return `RFC822.SIZE ${stored.sizeBytes}`;
  if (kind === 'INTERNALDATE') {
    const date = { atMs: stored.internalAt, zoneMinutes: stored.internalZoneMinutes };
    return `INTERNALDATE ${writeInternalDate(date)}`;
  }
  if (kind === 'ENVELOPE') return `ENVELOPE ${stored.envelope}`;
  if (kind === 'BODY') return `BODY ${stored.body}`;
  return kind === 'BODYSTRUCTURE' ? `BODYSTRUCTURE ${stored.bodyStructure}` : undefined;
}
