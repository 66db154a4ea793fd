/** Makes names of folders that mail was in elsewhere into names that a mailbox allows. */

import { INBOX_IN_INBOX, MAX_NAME_CHARACTERS } from '../../accounts/folder-name.ts';
import { fitName } from './fit-name.ts';

/** Returns a name that a mailbox allows: names of elsewhere may have control characters, levels without a name, and any length. */
export function validFolderName(name: string): string {
  const levels = name
    .replace(/\p{Cc}/gu, '_')
    .toWellFormed()
    .split('/');
  const valid = (levels.filter((level) => level !== '').join('/') || 'INBOX')
    .replace(/^INBOX(?=\/|$)/i, 'INBOX')
    .replace(INBOX_IN_INBOX, 'INBOX/INBOX_');
  return valid.length > MAX_NAME_CHARACTERS ? fitName(valid, MAX_NAME_CHARACTERS) : valid;
}
