/**
 * Confirms the subscription of a pending contact, when its reader follows the link of a confirmation mail. Nothing but this
 * write turns a pending contact into a subscribed one.
 */
import type { ContactRow } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { ConfirmationToken } from '../../links/confirm-token.ts';
import { addressKey } from '../../mail/address.ts';
import { DAY_MS } from '../../system/clock.ts';
import { type Consent, readConsent } from '../opt-in/consent.ts';
import { findAudience } from '../store.ts';
import { recordDecision } from './change.ts';
import { findContact, updateContact } from './store.ts';

/** Time for which the link of a confirmation mail can confirm, in milliseconds. */
const LINK_VALID_MS = 7 * DAY_MS;

/** `gone` means that there is nothing to confirm any more: the link is too old, or its contact was deleted, changed or has left. */
export type Confirmation = 'pending' | 'confirmed' | 'gone';

type Link = { token: ConfirmationToken; now: number };

/** Returns what a link can do at `now`, in Unix milliseconds. */
export async function findConfirmation(tx: Tx, link: Link): Promise<Confirmation> {
  return stateOf(await findLinked(tx, link.token), link);
}

function stateOf(contact: ContactRow | undefined, { token, now }: Link): Confirmation {
  if (!contact || contact.unsubscribed === 1) return 'gone';
  if (contact.pending === 0) return 'confirmed';
  return now < token.issuedAt + LINK_VALID_MS ? 'pending' : 'gone';
}

/** Returns the contact of a link, or the one that took its place in the audience when it was deleted and created again. */
async function findLinked(
  tx: Tx,
  { tenantId, audienceId, contactId, ...token }: ConfirmationToken,
): Promise<ContactRow | undefined> {
  if (!(await findAudience(tx, tenantId, audienceId))) return undefined;
  const find = (idOrAddress: string) => findContact(tx, tenantId, { audienceId, idOrAddress });
  const contact = (await find(contactId)) ?? (await find(token.address));
  return contact?.address === addressKey(token.address) ? contact : undefined;
}

/** The person who confirms, as their request shows them. */
type Confirming = Link & { ip: string; userAgent: string | null };

/** Confirms the contact of a link, with the proof and the event. A contact that is confirmed already stays as it is. */
export const confirmContact = defineWrite(
  'contacts.confirm',
  async (tx, { ip, userAgent, ...link }: Confirming): Promise<Confirmation> => {
    const before = await findLinked(tx, link.token);
    const state = stateOf(before, link);
    if (state !== 'pending' || !before) return state;
    const { now } = link;
    const consent: Consent = {
      ...(readConsent(before) ?? { source: 'api', requestedAt: before.createdAt, requestedIp: null }),
      confirmedAt: now,
      confirmedIp: ip,
      confirmedUserAgent: userAgent,
      confirmedEmail: before.email,
    };
    const contact = { ...before, pending: 0 as const, consent: JSON.stringify(consent), updatedAt: now };
    await updateContact(tx, before, contact);
    await recordDecision(tx, before, { contact, now });
    return 'confirmed';
  },
  { priority: 'urgent' },
);
