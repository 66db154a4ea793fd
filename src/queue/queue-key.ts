/** The key of a delivery queue, which is the mail of one mode, kind and tenant for one domain. Each recipient has the key of its queue. */
import type { MessageRow, Mode } from '../db/tables.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import type { Band, QueueName } from './schedule/events.ts';

export type DeliveryQueueName = {
  mode: Mode;
  kind: MessageRow['kind'];
  tenantId: string;
  domain: string;
  /** Host or domain that the operator has rerouted the mail to; undefined for the route of the domain. */
  target: string | undefined;
};

/** The domain part of the key of test mail. Test mail is never sent, so all domains share one queue. */
const NO_DOMAIN = '-';

/** Stands between the domain and the target of a rerouted queue. No domain contains it. */
const REROUTED = '>';

/** Returns the key of the delivery queue for mail to the domain. */
export function queueKeyOf(
  { mode, kind, tenantId }: Omit<DeliveryQueueName, 'domain' | 'target'>,
  domain: string,
): string {
  return `${mode} ${kind} ${tenantId} ${mode === 'live' ? domain : NO_DOMAIN}`;
}

/** Returns the key of the queue for the same mail with another target; without one, that of the route of its domain. */
export function rerouteQueue(key: string, target: string | undefined): string {
  const [own = ''] = key.split(REROUTED);
  return target === undefined ? own : `${own}${REROUTED}${target}`;
}

/** Returns the parts of a key that `queueKeyOf` made. */
export function parseQueueKey(key: string): DeliveryQueueName {
  const [mode, kind, tenantId = '', destination = ''] = key.split(' ');
  const [domain = '', target] = destination.split(REROUTED);
  return {
    mode: mode === 'live' ? 'live' : 'test',
    kind: kind === 'broadcast' ? 'broadcast' : 'transactional',
    tenantId,
    domain,
    target,
  };
}

/** Returns the band of the mail of a queue. Reports of this installation, and mail that it forwards, have one of their own. */
export function bandOf(key: string): Band {
  const { kind, tenantId } = parseQueueKey(key);
  return tenantId === INSTALLATION_TENANT ? 'report' : kind;
}

/** Returns the name of a queue as the schedule knows it. */
export function queueNameOf(key: string): QueueName {
  return { key, tenantId: parseQueueKey(key).tenantId, band: bandOf(key) };
}
