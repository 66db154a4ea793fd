/** Ships a cut in each period. */
import type { App } from '../app.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { Standby } from './standby.ts';

type ShippingApp = Pick<App, 'clock' | 'config'> & { standby: Standby };

/** Returns the shipping as work. Without a store there is nothing to do. */
export function createShipping({ clock, config, standby }: ShippingApp): Work<'run'> {
  const periodMs = config.standby.periodSeconds * 1_000;
  return periodic(clock, { name: 'shipping to the standby store', periodMs, run: () => standby.tick() });
}
