/**
 * Shows a contact as the API and its events do. This file is separate from the schemas, because the writer thread records
 * events and does not need the schemas.
 */

import type { ContactRow } from '../../db/marketing-tables.ts';
import { isoTime } from '../../system/clock.ts';
import { readChoices } from '../choices-store.ts';
import { isPending, readConsent } from '../opt-in/consent.ts';
import type { WithConfirmation } from '../opt-in/request.ts';
import { readProperties } from './merge.ts';
import type { ContactStatus, ShownContact } from './schemas.ts';
import { forTextFields } from './text-fields.ts';

/** Returns a contact as the API shows it. `forShowing` has prepared the row: it names only topics that exist. */
export function showContact(row: WithConfirmation): ShownContact {
  const { id, audienceId, email } = row;
  const choices = Object.entries(readChoices(row.topics));
  return {
    id,
    audienceId,
    email,
    ...forTextFields((name) => row[name]),
    unsubscribed: row.unsubscribed === 1,
    unsubscribedAt: row.unsubscribedAt === null ? null : isoTime(row.unsubscribedAt),
    properties: readProperties(row.properties),
    topics: choices.map(([topicId, optIn]) => ({
      id: topicId,
      subscription: optIn ? ('opt_in' as const) : ('opt_out' as const),
    })),
    status: statusOf(row),
    consent: consentOf(row),
    confirmation: confirmationOf(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

function statusOf(row: ContactRow): ContactStatus {
  if (row.unsubscribed === 1) return 'unsubscribed';
  return isPending(row) ? 'pending' : 'subscribed';
}

function consentOf(row: ContactRow): ShownContact['consent'] {
  const consent = readConsent(row);
  if (!consent) return null;
  const { requestedAt, confirmedAt } = consent;
  return { ...consent, requestedAt: isoTime(requestedAt), confirmedAt: timeOrNull(confirmedAt) };
}

function confirmationOf({ confirmation }: WithConfirmation): ShownContact['confirmation'] {
  if (!confirmation) return null;
  const { sentAt, count, nextAt } = confirmation;
  return { sentAt: timeOrNull(sentAt), count, nextAt: timeOrNull(nextAt) };
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
