/** Keeps the state of one session with a selected folder, which all of its methods share. */

import type { SelectedEvents } from '../../mail/imap/notify.ts';
import type { Features } from '../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import { flagNames, SYSTEM_FLAGS } from '../flags.ts';
import type { AccountState } from './account-state.ts';
import type { Responses } from './responses.ts';
import type { SearchContexts } from './search-contexts.ts';
import type { SessionMemory } from './session-memory.ts';
import type { Entry, View } from './view.ts';

/** Session that has selected a folder. */
export type SelectedState = {
  shared: AccountState;
  /** The account, which tells other sessions that this one has made its changes. */
  account: OpenAccount;
  view: View;
  features(): Features;
  /** Events of the folder of which the client wants to know. */
  events(): SelectedEvents;
  /** Maximum size of all messages of the account; null for no limit. */
  quotaBytes(): number | null;
  /** Keywords that the client knows to be in use in the folder. */
  announced: Set<string>;
  /** Searches whose results are updated. */
  contexts: SearchContexts;
  /** Memory of the saved result of a search (`View.saved`). */
  savedMemory: SessionMemory;
};

/**
 * Loads the keywords of messages, whose flags are then written. The client is told of keywords that it does not know, because programs
 * expect only flags that FLAGS names (RFC 9051 section 7.3.5).
 */
export async function loadKeywords(
  { shared, announced, view }: SelectedState,
  entries: readonly Entry[],
  responses: Responses,
): Promise<void> {
  const sets = new Set<number>();
  for (const { keywordSetId } of entries) sets.add(keywordSetId);
  await shared.loadKeywords(sets);
  const known = announced.size;
  for (const setId of sets) for (const keyword of shared.keywordsOf(setId)) announced.add(keyword);
  if (announced.size === known) return;
  const { flags, permanentFlags } = flagLists(announced, view);
  responses.add(`* FLAGS (${flags.join(' ')})\r\n`);
  if (!view.isReadOnly)
    responses.add(`* OK [PERMANENTFLAGS (${permanentFlags.join(' ')})] Flags that can be kept\r\n`);
}

/** Returns the flags of a folder with these keywords, and those that the client can change. */
export function flagLists(
  keywords: ReadonlySet<string>,
  { isReadOnly }: Pick<View, 'isReadOnly'>,
): { flags: string[]; permanentFlags: string[] } {
  const flags = [...SYSTEM_FLAGS, ...[...keywords].sort()];
  return { flags, permanentFlags: isReadOnly ? [] : [...flags, '\\*'] };
}

/** Maximum number of different texts of flags that a session keeps. Few mailboxes have more than some tens. */
const MAX_TEXTS = 1_000;
const RECENT_BIT = 0x20;
const FLAG_BITS = 0x40;

/** Returns `FLAGS (…)`. The keywords of the message were loaded before. */
export function flagsItem({ shared, features }: SelectedState, entry: Entry): string {
  const isRecent = entry.isRecent && !features().rev2;
  const key = entry.keywordSetId * FLAG_BITS + entry.flags + (isRecent ? RECENT_BIT : 0);
  const { flagTexts: known } = shared;
  const text = known.get(key);
  if (text !== undefined) return text;
  const names = flagNames({ flags: entry.flags, keywords: shared.keywordsOf(entry.keywordSetId) });
  const written = `FLAGS (${[...names, ...(isRecent ? ['\\Recent'] : [])].join(' ')})`;
  if (known.size >= MAX_TEXTS) known.clear();
  known.set(key, written);
  return written;
}
