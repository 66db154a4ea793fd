/** The key of a delivery queue, which is the mail of one mode, kind and tenant for one domain. Each recipient has the key of its queue. */
import type { MessageRow, Mode } from '../db/tables.ts';

export type DeliveryQueueName = { mode: Mode; kind: MessageRow['kind']; tenantId: string; domain: string };

/** The domain part of the key of test mail. Test mail is never sent, so all domains share one queue. */
const NO_DOMAIN = '-';

/** Returns the key of the delivery queue for mail to the domain. */
export function queueKeyOf(
  { mode, kind, tenantId }: Omit<DeliveryQueueName, 'domain'>,
  domain: string,
): string {
  return `${mode} ${kind} ${tenantId} ${mode === 'live' ? domain : NO_DOMAIN}`;
}

/** Returns the parts of a key that `queueKeyOf` made. */
export function parseQueueKey(key: string): DeliveryQueueName {
  const [mode, kind, tenantId = '', domain = ''] = key.split(' ');
  return {
    mode: mode === 'live' ? 'live' : 'test',
    kind: kind === 'broadcast' ? 'broadcast' : 'transactional',
    tenantId,
    domain,
  };
}
