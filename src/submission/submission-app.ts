/** The app with what taking mail from its writers needs besides. */
import type { App } from '../app.ts';
import { AnswerCache } from '../db/answer-cache.ts';
import type { AppPasswordRow, MailboxRow } from '../db/mailbox-tables.ts';
import type { ApiKeyRow, TenantRow, TenantStatus } from '../db/tenant-tables.ts';
import { cacheNamedDomains } from '../domains/named-domains.ts';
import { getSendingDomain, type SenderDomain } from '../domains/sender.ts';
import { createInFlight, type InFlight } from '../emails/idempotency/in-flight.ts';
import type { OpenLogins } from '../mailbox-access/open-logins.ts';
import { type AddressOwner, findAddressOwner } from '../mailboxes/addresses/store.ts';
import { findAppPasswordById } from '../mailboxes/app-passwords/store.ts';
import type { Authenticate } from '../mailboxes/authenticate.ts';
import { type LoginMark, type LoginRefusal, renewFromRows } from '../mailboxes/credential.ts';
import { createScramKeys } from '../mailboxes/scram-keys.ts';
import { mayUseOwned } from '../mailboxes/sender-addresses.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { type AddressLimit, createAddressLimit } from '../system/guards/address-limit.ts';
import { Shares } from '../system/shares.ts';
import { createUseRecord, type Need } from '../tenants/key-access.ts';
import { createKnownKeys, type KnownKeys } from '../tenants/known-keys.ts';
import { createRateLimit, type RateLimit } from '../tenants/rate-limit.ts';
import { findKeyById, findTenantStatus } from '../tenants/store.ts';
import { domainOf } from './user.ts';

/** Identifies a mailbox. */
type Mailbox = Pick<MailboxRow, 'id' | 'domain'>;

/**
 * Answers from memory the questions that each message asks about its writer: whether the login still stands, whose an address is,
 * and whether its domain may send. A query instead would read its pages again after each message that is committed.
 */
type KnownSenders = {
  /** Returns the reason why a login of a mailbox does not stand any more; undefined while it stands. */
  findLoginEnd(mailbox: Mailbox, mark: LoginMark): Promise<LoginRefusal | undefined>;
  /** Returns true for a tenant whose mail the operator has stopped. */
  isSuspended(tenantId: TenantRow['id']): Promise<boolean>;
  /** Returns true when the owner of a mailbox may write from an address (mailboxes/sender-addresses.ts). */
  mayUseAddress(mailbox: Mailbox, address: string): Promise<boolean>;
  /**
   * Returns the id of the domain of this tenant, whose key signs the mail of a mailbox.
   * @throws AppError domain_not_verified
   */
  getDomainId(tenantId: MailboxRow['tenantId'], domain: string): Promise<SenderDomain['domainId']>;
};

/** Maximum number of cached answers of each kind: a few MB, and for the mailboxes about 10 MB. */
const MAX_CACHED = 10_000;

/** Maximum number of connections of a mailbox, or of an API key: as many as one client address may have. */
const MAX_PER_USER = 50;

/** One tenant alone has three quarters of all connections, and less when others come. */
const PER_FREE = 3;

/** Identifies somebody who has logged in. `id` is that of the mailbox or of the API key. */
type ConnectedUser = { tenantId: TenantRow['id']; id: string };

type UserConnections = {
  /** Counts one more connection. Returns what ends it; undefined when the user, or its tenant, has its share already. */
  take(user: ConnectedUser): (() => void) | undefined;
};

/** The app with what taking the mail of a person needs, however it is handed over. */
export type SenderApp = App & { knownSenders: KnownSenders };

export type SubmissionApp = SenderApp & {
  /** Checks the password of a mailbox. All protocols share it, and with it the limits of attempts. */
  authenticate: Authenticate;
  scramKey: ReturnType<typeof createScramKeys>;
  knownKeys: KnownKeys;
  /** Counts wrong API keys of client addresses. It is not that of the HTTP API, which tries here would use up. */
  wrongKeys: AddressLimit;
  recordKeyUse: ReturnType<typeof createUseRecord>;
  rateLimit: RateLimit;
  inFlight: InFlight;
  userConnections: UserConnections;
  openLogins: OpenLogins;
};

/** Maximum rate of wrong API keys of a client address: 20 in ten minutes, as for passwords of mailboxes. */
const WRONG_KEYS = { requestsPerSecond: 20 / 600, burst: 20 };

/** The permission that an API key must have. */
export const NEEDS: Need = 'send';

/**
 * Returns the app for submission. The caller closes its `knownKeys`.
 * @param maxConnections maximum number of connections of all ports
 */
export function createSubmissionApp(
  app: App,
  { authenticate, openLogins }: Pick<SubmissionApp, 'authenticate' | 'openLogins'>,
  maxConnections: number,
): SubmissionApp {
  return {
    ...app,
    authenticate,
    openLogins,
    scramKey: createScramKeys(app),
    knownKeys: createKnownKeys(app),
    knownSenders: createKnownSenders(app),
    wrongKeys: createAddressLimit(app.clock, WRONG_KEYS),
    recordKeyUse: createUseRecord(app),
    rateLimit: createRateLimit(app.guards.tenants),
    inFlight: createInFlight(app.clock),
    userConnections: createUserConnections(maxConnections),
  };
}

/**
 * Returns counts without connections. One user or one tenant leaves some connections to the others.
 * @param total maximum number of connections of all ports
 */
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

/** Returns the answers without any. They are never older than what the last commit has changed. */
export function createKnownSenders(app: Pick<App, 'db' | 'clock' | 'config'>): KnownSenders {
  const { changes, read } = app.db;
  const options = { changes, maxSize: MAX_CACHED, sizeOf: () => 1, rowKeyOf };
  const mailboxes = new AnswerCache<string, MailboxRow | undefined>({ ...options, tables: ['mailboxes'] });
  const appPasswords = new AnswerCache<string, AppPasswordRow | undefined>({
    ...options,
    tables: ['appPasswords'],
  });
  const owners = new AnswerCache<string, AddressOwner | undefined>({
    ...options,
    tables: ['mailboxes', 'mailboxAliases'],
  });
  const statuses = new AnswerCache<string, TenantStatus | undefined>({ ...options, tables: ['tenants'] });
  const statusOf = (id: TenantRow['id']) => statuses.get(`${id} `, () => findTenantStatus(read, id));
  const findDomain = cacheNamedDomains(app);

  async function findOwnMailbox({ id, domain }: Mailbox): Promise<MailboxRow | undefined> {
    const row = await mailboxes.get(`${domain} ${id}`, () => findMailboxById(read, id));
    // Changes of a mailbox that has moved to another domain count for that domain alone.
    return row === undefined || row.domain === domain ? row : await findMailboxById(read, id);
  }

  return {
    async findLoginEnd({ id: ownId, domain }, mark) {
      const rows = {
        findTenantStatus: statusOf,
        // The mailbox of a member may be at another domain.
        findMailbox: (id: MailboxRow['id']) =>
          id === ownId ? findOwnMailbox({ id, domain }) : findMailboxById(read, id),
        findAppPassword: (id: AppPasswordRow['id']) =>
          appPasswords.get(`${ownId} ${id}`, () => findAppPasswordById(read, id)),
        findApiKey: (id: ApiKeyRow['id']) => findKeyById(read, id),
      };
      const renewed = await renewFromRows(rows, mark, app.clock.now());
      return 'refused' in renewed ? renewed.refused : undefined;
    },
    isSuspended: async (tenantId) => (await statusOf(tenantId)) === 'suspended',
    mayUseAddress: (mailbox, address) =>
      mayUseOwned(read, mailbox, {
        address,
        findOwner: (key) => owners.get(`${domainOf(key)} ${key}`, () => findAddressOwner(read, key)),
      }),
    async getDomainId(tenantId, domain) {
      const sender = { tenantId, mode: 'live', domain, simulatorOnly: false } as const;
      return (await getSendingDomain(app, sender, findDomain)).domainId;
    },
  };
}

/** The keys of answers begin with the key of the rows that they come from, which has no space. */
function rowKeyOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}
