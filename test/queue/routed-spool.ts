import type { System } from '../../src/system/system.ts';
import { dialHosts, type Hosts } from '../support/loopback.ts';
import { openSpool, type Spool } from '../support/spool.ts';

/** `dialled` lists the addresses that were dialled, in order. */
export type RoutedSpool = Spool & { dialled: string[] };

/** Opens a spool in which the addresses of the zone lead to ports of this machine. `hosts` may change later. */
export async function openRoutedSpool(
  hosts: Hosts,
  connections?: number,
  env: Record<string, string> = {},
  system: Partial<System> = {},
): Promise<RoutedSpool> {
  const dialled: string[] = [];
  const dial = dialHosts(hosts);
  const spool = await openSpool({
    system: {
      ...system,
      dial(target) {
        dialled.push(target.address);
        return dial(target);
      },
    },
    env: {
      ...env,
      ...(connections !== undefined && { POSTRIDER_DELIVERY_CONNECTIONS: String(connections) }),
    },
  });
  return { ...spool, dialled };
}
