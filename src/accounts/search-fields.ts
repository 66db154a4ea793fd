/** Finds the contents that have a text in one of the header fields in which people search most (RFC 9051 section 6.4.4). */
import { readFieldTexts } from '../mail/message/search-fields.ts';
import { createPause } from '../system/next-turn.ts';
import type { OpenAccount } from './account.ts';
import { findHeader } from './content-store.ts';
import type { FieldMatches, FieldSought, NewFields } from './search-field-store.ts';

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
  await addMissing(account, found.missing);
  return await account.search.findInField(contentIds, sought);
}

async function addMissing(account: OpenAccount, contentIds: readonly number[]): Promise<void> {
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
