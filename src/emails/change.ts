/** Taking an email back, or putting it off, as long as none of it was tried (api.md 1.3). */
import type { App } from '../app.ts';
import { notFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { maxAgeMs, readSchedule } from './request/schedule.ts';
import type { RescheduleBody } from './schemas.ts';
import { cancelStoredEmail, type EmailHead, findEmailHead, rescheduleStoredEmail } from './store.ts';

type ChangeApp = Pick<App, 'db' | 'clock' | 'config' | 'wakeups'>;

/**
 * Finds an email by its id.
 * @throws AppError not_found, also for the email of another tenant, mode, or domain than the key is limited to
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

/** @throws AppError invalid_state */
export async function cancelEmail(app: ChangeApp, email: EmailHead): Promise<void> {
  await app.db.commit(cancelStoredEmail, { ...ownerOf(email), now: app.clock.now() });
  app.wakeups.notify('events');
}

/** @throws AppError validation_error, invalid_state */
export async function rescheduleEmail(app: ChangeApp, email: EmailHead, body: RescheduleBody): Promise<void> {
  const now = app.clock.now();
  const { scheduledAt, datedAt } = readSchedule(body.scheduledAt, now);
  const expiresAt = datedAt + maxAgeMs(app.config, email.type);
  await app.db.commit(rescheduleStoredEmail, { ...ownerOf(email), now, scheduledAt, datedAt, expiresAt });
  app.wakeups.notify('queue');
}

function ownerOf({ id, tenantId }: EmailHead) {
  return { id, tenantId };
}
