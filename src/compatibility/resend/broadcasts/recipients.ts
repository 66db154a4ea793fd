/** Translates what became of the recipients of a broadcast, and the links that they clicked. */
import type { RecipientView } from '../../../broadcasts/recipients/schemas.ts';
import { invalid } from '../../../system/errors.ts';
import { tagsToResend } from '../merge-tags.ts';

/** Resend's types of recipients that are statuses of ours. */
const STATUSES = ['delivered', 'bounced', 'suppressed'] as const satisfies readonly RecipientView['status'][];

/**
 * Returns the filter of the list.
 * @throws AppError validation_error for other types and filters
 */
export function recipientFilterFrom({ type, email, bounce_type }: Readonly<Record<string, unknown>>) {
  const status = STATUSES.find((known) => known === type);
  if (status === undefined)
    throw invalid(
      'type',
      `\`type\` must be ${STATUSES.join(', ')} here; events of each email have the others`,
    );
  for (const [field, value] of Object.entries({ email, bounce_type }))
    if (value !== undefined) throw invalid(field, `\`${field}\` is not a filter of recipients here`);
  return { status };
}

/** Returns a recipient as Resend shows it. The kind of a bounce is not part of our list. */
export function showRecipient({ contactId, email, status }: RecipientView) {
  return {
    id: contactId,
    contact_id: contactId,
    email,
    ...(status === 'bounced' && { bounce_type: 'undetermined' }),
  };
}

type ClickedLink = { number: number; url: string; clicks: number; uniqueClicks: number };

/** Returns a tracked link as Resend shows it. */
export function showClickedLink({ number, url, clicks, uniqueClicks }: ClickedLink) {
  return { id: String(number), url: tagsToResend(url), clicks, unique_clicks: uniqueClicks };
}
