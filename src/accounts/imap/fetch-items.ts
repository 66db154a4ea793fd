/** Writes the FETCH response of one message from what was read of it. */
import { DamagedBlobError } from '../../blobs/damaged.ts';
import { writeInternalDate } from '../../mail/imap/encode/internal-date.ts';
import { beginSection, type WirePieces, writeSection } from '../../mail/imap/encode/section.ts';
import { textFormOf, writeString } from '../../mail/imap/encode/strings.ts';
import type { FetchItem } from '../../mail/imap/fetch-item.ts';
import type { Refusal } from '../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import type { StoredMessage } from '../stored-message-store.ts';
import { type FetchPlan, isOfHeader } from './fetch-plan.ts';
import type { Responses } from './responses.ts';
import { type InlineOctets, type LargeOctets, MessageOctets } from './sections.ts';
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

type Answer = { plan: FetchPlan; responses: Responses };

/** Lets other work run once a slice of time has passed (system/slices.ts). */
type Pause = () => Promise<void> | undefined;

/** Adds the response for a message whose items need no octets. */
export function writeResponse(selected: SelectedState, message: Fetched, { plan, responses }: Answer): void {
  let text = '';
  for (const item of itemsOf(selected, message, plan)) {
    const written = writeItem(selected, message, item);
    if (written !== undefined) text += text === '' ? written : ` ${written}`;
  }
  if (text !== '') responses.add(`${beginningOf(message)}${text})\r\n`);
}

function beginningOf({ entry }: Fetched): string {
  return `* ${entry.number} FETCH (`;
}

/** The response has left an item out because its transfer encoding is unknown, or there is none because the octets are damaged. */
export type Omission = 'unknown' | 'damaged';

/**
 * Adds the response for a message whose octets are in memory, of which the items show one section. Returns false when a file has them,
 * and adds nothing then.
 */
export function writeShortResponse(
  selected: SelectedState,
  message: Fetched,
  { plan, responses }: Answer,
): Omission | undefined | false {
  const { account } = selected.shared;
  const { stored } = message;
  if (!plan.hasOneSection || !stored) return false;
  const pieces: (string | Buffer)[] = [];
  let separator = beginningOf(message);
  try {
    for (const item of itemsOf(selected, message, plan)) {
      const found =
        item.kind === 'SECTION' && new MessageOctets(account, stored).sectionInMemory(item, isOfHeader(item));
      if (found === 'in a file') return false;
      const wire = found === false ? writeItem(selected, message, item) : undefined;
      if (found === false && wire === undefined) continue;
      pieces.push(separator);
      separator = ' ';
      if (found === false) pieces.push(wire ?? '');
      else pieces.push(...writeInline(labelOf(plan, item), found));
    }
  } catch (error) {
    if (!(error instanceof DamagedBlobError)) throw error;
    return reportDamage(account, error);
  }
  pieces.push(')\r\n');
  responses.addPieces(pieces);
  return undefined;
}

/**
 * Adds the response for a message, and yields it in chunks where it is long: of all that the items show, one piece is in memory.
 * A refusal means that the response could not be completed.
 */
export async function* writeLongResponse(
  selected: SelectedState,
  message: Fetched,
  { plan, responses, pause }: Answer & { pause: Pause },
): AsyncGenerator<Buffer, Omission | undefined | Refusal> {
  const { account } = selected.shared;
  const takeBack = responses.mark();
  let omission: Omission | undefined;
  let hasBegun = false;
  let separator = beginningOf(message);
  try {
    const octets = message.stored && new MessageOctets(account, message.stored);
    for (const item of itemsOf(selected, message, plan)) {
      const read = octets && (await readOctetItem(octets, item, labelOf(plan, item)));
      const turn = pause();
      if (turn !== undefined) await turn;
      if (read === null) omission = 'unknown';
      const wire = read === undefined ? writeItem(selected, message, item) : read;
      if (wire === undefined || wire === null) continue;
      responses.add(separator);
      separator = ' ';
      if (isInMemory(wire)) {
        responses.addPieces(typeof wire === 'string' ? [wire] : wire);
        if (responses.isFull) {
          hasBegun = true;
          yield* responses.take();
        }
        continue;
      }
      for await (const piece of wire) {
        responses.addPieces([piece]);
        if (!responses.isFull) continue;
        hasBegun = true;
        yield* responses.take();
      }
    }
  } catch (error) {
    if (!hasBegun && !(error instanceof DamagedBlobError)) throw error;
    const damaged = reportDamage(account, error);
    // The client waits for the octets that are missing, so nothing else can be said.
    if (hasBegun) return unreadable();
    takeBack();
    return damaged;
  }
  if (separator === ' ') responses.add(')\r\n');
  return omission;
}

function reportDamage({ app, id }: OpenAccount, err: unknown): 'damaged' {
  app.log.error({ err, mailbox: id }, 'a message could not be read to its end');
  return 'damaged';
}

function labelOf({ labels }: FetchPlan, item: FetchItem): string {
  return labels.get(item) ?? '';
}

/** Returns the refusal of FETCH when a message is damaged. After NO, many clients take such a message for one that does not exist. */
export function unreadable(): Refusal {
  return { refused: 'BYE', code: 'SERVERBUG', text: 'A message could not be read' };
}

type Wire = string | WirePieces | AsyncIterable<string | Buffer>;

function isInMemory(wire: Wire): wire is string | WirePieces {
  return typeof wire === 'string' || Array.isArray(wire);
}

/** Reads an item that is made of octets. Returns undefined for another one, and null when its encoding is unknown. */
async function readOctetItem(
  octets: MessageOctets,
  item: FetchItem,
  label: string,
): Promise<Wire | null | undefined> {
  if (item.kind === 'SECTION') {
    const found = await octets.section(item, isOfHeader(item));
    return found && isLarge(found) ? writeLarge(label, found) : writeInline(label, found);
  }
  if (item.kind !== 'BINARY' && item.kind !== 'BINARY.SIZE') return undefined;
  const decoded = await octets.binary(item);
  if (decoded === 'unknown') return null;
  if (item.kind === 'BINARY.SIZE') return `BINARY.SIZE[${item.part.join('.')}] ${decoded?.sizeBytes ?? 0}`;
  if (decoded === undefined || decoded.sizeBytes === 0) return writeInline(label, decoded && NOTHING);
  return writeLarge(label, decoded);
}

const NOTHING: InlineOctets = { sizeBytes: 0, pieces: [] };

function isLarge(octets: InlineOctets | LargeOctets): octets is LargeOctets {
  return Symbol.asyncIterator in octets.pieces;
}

function writeInline(label: string, found: InlineOctets | undefined): WirePieces {
  if (!found || found.sizeBytes === 0) return writeSection(label, found && Buffer.alloc(0));
  return [beginSection(label, found), ...found.pieces];
}

async function* writeLarge(
  label: string,
  { sizeBytes, pieces, hasNul = false }: LargeOctets & { hasNul?: boolean },
): AsyncGenerator<string | Buffer> {
  yield beginSection(label, { sizeBytes, isBinary: hasNul });
  yield* pieces;
}

/** Returns the items of a response. */
function itemsOf(selected: SelectedState, message: Fetched, plan: FetchPlan): readonly FetchItem[] {
  return message.isNewlySeen ? [...plan.items, ...unaskedItems(selected, plan)] : plan.items;
}

/** Returns the items that tell the client about `\Seen` and that it has not asked for (RFC 7162 sections 3.1 and 3.2.4). */
function unaskedItems({ features }: SelectedState, { items }: FetchPlan): FetchItem[] {
  const { condstore, qresync } = features();
  const wanted: FetchItem[] = [{ kind: 'FLAGS' }];
  if (condstore) wanted.push({ kind: 'MODSEQ' });
  if (qresync) wanted.push({ kind: 'UID' });
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
  if (kind === 'EMAILID') return `EMAILID (${stored.emailId})`;
  if (kind === 'THREADID') return 'THREADID NIL';
  if (kind === 'SAVEDATE') return `SAVEDATE ${writeInternalDate({ atMs: stored.savedAt, zoneMinutes: 0 })}`;
  if (kind === 'PREVIEW') return `PREVIEW ${writeString(stored.preview, textFormOf(selected.features()))}`;
  if (kind === 'ENVELOPE') return `ENVELOPE ${stored.envelope}`;
  if (kind === 'BODY') return `BODY ${stored.body}`;
  return kind === 'BODYSTRUCTURE' ? `BODYSTRUCTURE ${stored.bodyStructure}` : undefined;
}
