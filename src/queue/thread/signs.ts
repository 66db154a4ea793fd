/** The signs of faults that no single attempt shows (delivery-monitor.ts): each delivery thread reports its own, which are then seen together. */
import type { DeliveryMonitor } from '../delivery-monitor.ts';

export type ThreadSigns = Pick<DeliveryMonitor, 'deliversNothing' | 'failsDns' | 'hasDelivered'>;
export type DeliverySigns = Omit<ThreadSigns, 'hasDelivered'>;

/** The signs of a thread that has just started. */
export const NO_SIGNS: ThreadSigns = { deliversNothing: false, failsDns: false, hasDelivered: false };

/** Nothing is delivered when some thread delivers nothing, and no other one has delivered meanwhile. */
export function signsTogether(all: readonly ThreadSigns[]): DeliverySigns {
  const hasDelivered = all.some((one) => one.hasDelivered);
  return {
    deliversNothing: !hasDelivered && all.some((one) => one.deliversNothing),
    failsDns: all.some((one) => one.failsDns),
  };
}
