/** Says which counters an event of an email increments, from its row alone. */
import type { Counter } from '../../counts/tally.ts';

/** An event of an email, with what its data says. */
export type CountableEvent = {
  emailId: string;
  type: string;
  createdAt: number;
  /** Recipient of the event. */
  to: string;
  bounceType: string | null;
  /** 1 when a machine opened the email or clicked. Null for other events. */
  isMachine: 0 | 1 | null;
};

const BOUNCES: Readonly<Record<string, Counter>> = {
  permanent: 'bouncedPermanent',
  transient: 'bouncedTransient',
  undetermined: 'bouncedUndetermined',
};

const SIMPLE: Readonly<Record<string, Counter>> = {
  'email.queued': 'accepted',
  'email.delivered': 'delivered',
  'email.complained': 'complained',
  'email.suppressed': 'suppressed',
  'email.canceled': 'canceled',
};

/**
 * Returns the function that gives the counters of each event. The events of an email come in their order: a later delay, open
 * or click of the same recipient is not the first one.
 */
export function createClassifier(): (event: CountableEvent) => readonly Counter[] {
  const seen = new Set<string>();
  const isFirst = ({ emailId, to, type }: CountableEvent): boolean => {
    const name = `${emailId} ${type} ${to}`;
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  };
  return (event) => {
    const { type, bounceType, isMachine } = event;
    switch (type) {
      case 'email.bounced':
        return [BOUNCES[bounceType ?? ''] ?? 'bouncedUndetermined'];
      case 'email.delivery_delayed':
        return isFirst(event) ? ['delayed'] : [];
      case 'email.opened':
        if (isMachine === 1) return ['machineOpened'];
        return isFirst(event) ? ['opened', 'uniqueOpened'] : ['opened'];
      case 'email.clicked':
        if (isMachine === 1) return ['machineClicked'];
        return isFirst(event) ? ['clicked', 'uniqueClicked'] : ['clicked'];
      default:
        return SIMPLE[type] === undefined ? [] : [SIMPLE[type]];
    }
  };
}
