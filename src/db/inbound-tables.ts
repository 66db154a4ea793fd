/** The data dictionary: mail that arrives. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by inbound/routes/store.ts. Live and test keys share them. */
export type InboundRouteRow = {
  id: Id<'rt'>;
  tenantId: Id<'ten'>;
  /** Address as `addressKey`, or `*@domain` for all addresses of a domain without a route of their own. */
  address: string;
  domain: string;
  destination: string;
  enabled: 0 | 1;
  secretSealed: string;
  createdAt: number;
  updatedAt: number;
};

/** Written by tenants/stored-mail/store.ts, within each write that stores or removes received mail. */
export type StoredMailRow = {
  tenantId: Id<'ten'>;
  /** Size of the received mail that the tenant stores. A tenant without a row stores none. */
  bytes: number;
};
