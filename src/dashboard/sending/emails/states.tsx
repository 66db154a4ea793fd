/** The states of emails and of their recipients, as coloured words. */
import type { RecipientStatus, STATUSES } from '../../../emails/schemas.ts';
import { Status, type Tone } from '../../frame/elements.tsx';
import type { TenantContext } from '../../page.ts';

type EmailStatus = (typeof STATUSES)[number];

const EMAIL_TONES: Record<EmailStatus, Tone> = {
  queued: 'neutral',
  sent: 'neutral',
  delivered: 'good',
  bounced: 'bad',
  complained: 'bad',
  canceled: 'warning',
};

const RECIPIENT_TONES: Record<RecipientStatus, Tone> = {
  ...EMAIL_TONES,
  deferred: 'warning',
  held: 'warning',
  suppressed: 'warning',
};

/** The status of an email as a whole. */
export function EmailStatusMark({ context, status }: { context: TenantContext; status: EmailStatus }) {
  return <Status tone={EMAIL_TONES[status]}>{context.texts.emails.statuses[status]}</Status>;
}

/** The state of one recipient. */
export function RecipientStatusMark({
  context,
  status,
}: {
  context: TenantContext;
  status: RecipientStatus;
}) {
  return <Status tone={RECIPIENT_TONES[status]}>{context.texts.emails.recipientStatuses[status]}</Status>;
}
