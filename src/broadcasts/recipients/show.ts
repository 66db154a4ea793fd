/** Shows a contact of a broadcast. The database threads load it too, so it imports no schemas. */
import { isoTime } from '../../system/clock.ts';
import type { RecipientView } from './schemas.ts';
import type { Recipient } from './store.ts';

/** Returns a contact of a broadcast as the API and the file show it. */
export function showRecipient(row: Recipient): RecipientView {
  const { contactId, address: email, state, emailId, reason, changedAt, openedAt, clickedAt } = row;
  return {
    contactId,
    email,
    status: state,
    emailId,
    reason,
    changedAt: isoTime(changedAt),
    openedAt: openedAt === null ? null : isoTime(openedAt),
    clickedAt: clickedAt === null ? null : isoTime(clickedAt),
  };
}
