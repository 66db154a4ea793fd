/**
 * Shows a contact as the API and its events do. This file is separate from the schemas, because the writer thread records
 * events and does not need the schemas.
 */
import type { ContactRow } from '../../db/marketing-tables.ts';
import { isoTime } from '../../system/clock.ts';
import { readChoices, readProperties } from './merge.ts';
import type { ShownContact } from './schemas.ts';

/** Returns a contact as the API shows it. The row names only topics that exist: `withLiveTopics` removes the others. */
export function showContact(row: ContactRow): ShownContact {
  const { id, audienceId, email, firstName, lastName } = row;
  const choices = Object.entries(readChoices(row.topics));
  return {
    id,
    audienceId,
    email,
    firstName,
    lastName,
    unsubscribed: row.unsubscribed === 1,
    unsubscribedAt: row.unsubscribedAt === null ? null : isoTime(row.unsubscribedAt),
    properties: readProperties(row.properties),
    topics: choices.map(([topicId, optIn]) => ({
      id: topicId,
      subscription: optIn ? ('opt_in' as const) : ('opt_out' as const),
    })),
    status: row.unsubscribed === 1 ? 'unsubscribed' : 'subscribed',
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
