/** Finds the contents that contain a text (RFC 9051 section 6.4.4). The result is exact. */
import { DamagedBlobError } from '../blobs/damaged.ts';
import { readFieldTexts } from '../mail/message/search-fields.ts';
import type { SearchText } from '../mail/message/search-text.ts';
import { createPause } from '../system/slices.ts';
import type { OpenAccount } from './account.ts';
import { readContent } from './content.ts';
import { findContent, findHeader } from './content-store.ts';
import type { FieldMatches, FieldSought, NewFields } from './search-field-store.ts';
import type { Match, Sought } from './search-store.ts';

/** Number of messages that are read again before their texts are stored. */
const SLICE_MESSAGES = 50;

type TextSearch = Sought & { contentIds: readonly number[] };

/**
 * Returns those of the contents that contain a folded text. Texts that are missing are read from their messages and stored. The
 * prefixes of messages are not looked at.
 *
 * @throws MessagesWaitError when the parser is busy
 */
export async function searchText(
  account: OpenAccount,
  { contentIds, ...sought }: TextSearch,
): Promise<Set<number>> {
  const found = new Set<number>();
  for (const { contentId, isMatch } of await findMatches(account, contentIds, sought)) {
    if (isMatch || isIn(await readTextOf(account, contentId, true), sought)) found.add(contentId);
  }
  return found;
}

/** Number of times that damaged texts are made again. */
const MAX_REPAIRS = 2;

async function findMatches(
  account: OpenAccount,
  contentIds: readonly number[],
  sought: Sought,
): Promise<Match[]> {
  for (let repairs = 0; repairs <= MAX_REPAIRS; repairs++) {
    await addMissing(account, contentIds);
    const matches = await account.search.find(contentIds, sought);
    if (matches) return matches;
  }
  throw new Error('the search texts are damaged again and again');
}

function isIn(text: SearchText | undefined, { needle, where }: Sought): boolean {
  if (!text) return false;
  const { header, body } = text;
  return body.includes(needle) || (where === 'text' && header.includes(needle));
}

async function addMissing(account: OpenAccount, contentIds: readonly number[]): Promise<void> {
  const missing = await account.search.listMissing(contentIds);
  for (let at = 0; at < missing.length; at += SLICE_MESSAGES) {
    const ids = missing.slice(at, at + SLICE_MESSAGES);
    for (const id of ids) {
      const text = await readTextOf(account, id, false);
      if (text) account.search.add(id, text);
    }
    await account.search.flush();
  }
}

/** Returns the text of a content; undefined when its bytes are damaged or were removed, so that it matches nothing. */
async function readTextOf(
  account: OpenAccount,
  contentId: number,
  isTextWhole: boolean,
): Promise<SearchText | undefined> {
  try {
    const octets = await readContent(account, contentId);
    return (await account.app.parser.read(octets, account.id, { isTextWhole })).search;
  } catch (error) {
    const isUnreadable =
      error instanceof DamagedBlobError || !(await findContent(account.db.read, contentId));
    if (isUnreadable) return undefined;
    throw error;
  }
}

/** Number of contents whose fields are read before they are stored. */
const SLICE_CONTENTS = 512;

/**
 * Returns which of the contents have a text in a field, and those whose header must be read to tell. Fields that are missing are read
 * and stored. The prefixes of messages are not searched: they have other fields (`MessageRow.prefix`).
 */
export async function searchField(
  account: OpenAccount,
  contentIds: readonly number[],
  sought: FieldSought,
): Promise<FieldMatches> {
  const found = await account.search.findInField(contentIds, sought);
  if (found.missing.length === 0) return found;
  await addMissingFields(account, found.missing);
  return await account.search.findInField(contentIds, sought);
}

async function addMissingFields(account: OpenAccount, contentIds: readonly number[]): Promise<void> {
  const pause = createPause(account.app.clock);
  for (let at = 0; at < contentIds.length; at += SLICE_CONTENTS) {
    const added: NewFields[] = [];
    for (const contentId of contentIds.slice(at, at + SLICE_CONTENTS)) {
      const header = await findHeader(account.db.read, contentId);
      if (header) added.push({ contentId, fields: readFieldTexts(header) });
      await pause();
    }
    await account.search.addFields(added);
  }
}
