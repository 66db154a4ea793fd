/**
 * The limits that all protocols share. A tenant or a client cannot get more by using several of them, and each app has
 * memory of its own, so that an overload of one protocol does not affect the others.
 */
import type { Clock } from '../clock.ts';
import { type AddressLimit, createAddressLimit } from './address-limit.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { createOverload, type Load, type Overload } from './overload.ts';
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

export type Guards = {
  overload: Overload;
  /** Requests of each tenant; the name of a bucket is the id of the tenant. */
  tenants: TokenBuckets;
  /** Requests of clients that have not authenticated. */
  unauthenticated: AddressLimit;
  /** Requests for public pages. */
  visitors: AddressLimit;
  /** Requests for pictures and links of mail, whose senders have received it. */
  readers: AddressLimit;
  /** Messages of each SMTP client. */
  smtpClients: AddressLimit;
  /** Memory for data that arrives: request bodies, files that are fetched for them, and messages. */
  memory: Readonly<Record<AppName, ByteBudget>>;
};

/** Apps that receive data. */
type AppName = 'api' | 'control' | 'pages' | 'uploads' | 'smtp';

const MIB = 1024 * 1024;
/** Memory of the control socket: the operator's commands are small. */
const CONTROL = { largeBytes: 16 * MIB, smallBytes: 4 * MIB, share: 1 };
/** Memory of the public pages: their forms are small. */
const PAGES = { largeBytes: 16 * MIB, smallBytes: 4 * MIB, share: 1 };
/** Memory of pages on which people upload files; their other forms are small. */
const UPLOADS = { largeBytes: 128 * MIB, smallBytes: 16 * MIB };
/**
 * Maximum request rate of one address for public pages. A large mailbox provider sends the one-click requests of all its
 * readers from a few addresses.
 */
const VISITORS = { requestsPerSecond: 200, burst: 2_000 };
/**
 * Maximum request rate of one address for the pictures and links of mail. The image proxies of a large mailbox provider load the
 * pictures of all its readers from a few addresses.
 */
const READERS = { requestsPerSecond: 2_000, burst: 20_000 };
/**
 * Memory of messages that arrive. Beyond it they go to files at once, and each holds at most the size of a row anyway
 * (blobs/blobs.ts).
 */
const SMTP = { largeBytes: 48 * MIB, smallBytes: 16 * MIB };
/** Maximum rate of messages of one address. A large mailbox provider sends from many addresses. */
const SMTP_CLIENTS = { requestsPerSecond: 50, burst: 1_000 };
/** Maximum number of tenants whose requests are counted. When more are active at once, some may exceed their plan. */
const MAX_TENANTS = 10_000;

/** Returns the guards of a daemon that has done nothing yet. */
export function createGuards(clock: Pick<Clock, 'elapsed'>, load: Load): Guards {
  return {
    overload: createOverload(load),
    tenants: createTokenBuckets(clock, MAX_TENANTS),
    unauthenticated: createAddressLimit(clock),
    visitors: createAddressLimit(clock, VISITORS),
    readers: createAddressLimit(clock, READERS),
    smtpClients: createAddressLimit(clock, SMTP_CLIENTS),
    memory: {
      api: createByteBudget(),
      control: createByteBudget(CONTROL),
      pages: createByteBudget(PAGES),
      uploads: createByteBudget(UPLOADS),
      smtp: createByteBudget(SMTP),
    },
  };
}
