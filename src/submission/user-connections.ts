/** Shares the connections of submission among those who have logged in, so that one user or one tenant leaves some to the others. */
import type { TenantRow } from '../db/tenant-tables.ts';
import { Shares } from '../system/shares.ts';

/** Maximum number of connections of a mailbox, or of an API key: as many as one client address may have. */
const MAX_PER_USER = 50;

/** One tenant alone has three quarters of all connections, and less when others come. */
const PER_FREE = 3;

/** Identifies somebody who has logged in. `id` is that of the mailbox or of the API key. */
type ConnectedUser = { tenantId: TenantRow['id']; id: string };

export type UserConnections = {
  /** Counts one more connection. Returns what ends it; undefined when the user, or its tenant, has its share already. */
  take(user: ConnectedUser): (() => void) | undefined;
};

/** Returns counts without connections. @param total maximum number of connections of all ports */
export function createUserConnections(total: number): UserConnections {
  const tenants = new Shares<ConnectedUser['tenantId']>(total, { perFree: PER_FREE });
  const users = new Map<string, number>();
  return {
    take({ tenantId, id }) {
      const held = users.get(id) ?? 0;
      if (held >= MAX_PER_USER || !tenants.take(tenantId)) return undefined;
      users.set(id, held + 1);
      return () => {
        tenants.release(tenantId);
        const left = (users.get(id) ?? 0) - 1;
        if (left > 0) users.set(id, left);
        else users.delete(id);
      };
    },
  };
}
