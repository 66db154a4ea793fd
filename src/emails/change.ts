/** Cancels an email that waits, or reschedules one whose delivery has not been attempted. */
import type { App } from '../app.ts';
import { notFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { findAsker } from '../tenants/approval-need.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { rescheduleStoredEmail } from './approval.ts';
import { maxAgeMs, readSchedule } from './request/schedule.ts';
import type { RescheduleBody } from './schemas.ts';
import { cancelStoredEmail, type EmailHead, findEmailHead } from './store.ts';

/**
 * Returns the email with this id.
 * @throws AppError not_found, also for an email of another tenant or mode, or outside the domain that the key is
 * limited to
 */
export async function getEmailHead(
  app: Pick<App, 'db'>,
  { tenantId, mode, domainId }: Caller,
  id: string,
): Promise<EmailHead> {
  const head = isId('em', id)
    ? await findEmailHead(app.db.read, tenantId, { mode, domainId, id })
    : undefined;
  if (!head) throw notFound('Email');
  return head;
}

/**
 * Cancels the recipients that wait or are held.
 * @throws AppError invalid_state when a recipient is being sent to at this moment, or when none waits
 */
export async function cancelEmail(app: App, email: EmailHead): Promise<void> {
  await app.db.commit(cancelStoredEmail, { ...ownerOf(email), now: app.clock.now() });
  for (const name of ['events', 'suspects']) app.wakeups.notify(name);
}

/**
 * Moves an email that has not been attempted to another time.
 * @throws AppError validation_error, invalid_state
 */
export async function rescheduleEmail(
  app: App,
  caller: Caller,
  { email, body }: { email: EmailHead; body: RescheduleBody },
): Promise<void> {
  const now = app.clock.now();
  const { scheduledAt, datedAt } = readSchedule(body.scheduledAt, now);
  const expiresAt = datedAt + maxAgeMs(app.config, email.type);
  const askedBy = findAsker(caller, email.type);
  const dates = { now, scheduledAt, datedAt, expiresAt };
  await app.db.commit(rescheduleStoredEmail, { ...ownerOf(email), ...dates, askedBy });
  for (const name of ['queue', 'events']) app.wakeups.notify(name);
}

function ownerOf({ id, tenantId }: EmailHead) {
  return { id, tenantId };
}
