/**
 * Decides which tenant may hold a connection. The peer decides how long a connection is held, and a session that is
 * ended after its final dot makes duplicates, so connections are shared out when they are opened:
 *
 * - All connections are shared by tenants (system/shares.ts). A single tenant may hold seven of eight: it can use
 *   nearly all of them while nobody else sends, and some are free for the next tenant.
 * - A quarter of the connections is reserved for proven sites, which have delivered recently (learned.ts). Other sites,
 *   new ones among them, use the other three quarters, of which a single tenant may hold three of four: 281 of 500.
 *   However many hosts of a tenant hang, other tenants find connections for proven and for new sites.
 *
 * Bound: a tenant without a connection gets one at once, unless six others fill their shares with new sites that hang
 * (281, 70, 18, 4, 1 and 1 of the 375). It then waits until a connection comes free. By then the sessions of those
 * tenants are pressed (pool.ts): a host that is silent before the final dot is given up after
 * `PRESSED_TIMEOUT_MS` and at most `PRESSED_CHECK_MS` more (mail/smtp/client/timeouts.ts), not after the five minutes
 * of RFC 5321.
 */
import { Shares } from '../../system/shares.ts';

/** Share of the connections that is reserved for proven sites. */
const RESERVED_PART = 1 / 4;
/**
 * Maximum connections of one tenant for each free one. It is high, because proven sites give a connection back within
 * seconds.
 */
const HELD_PER_FREE = 7;
/**
 * Maximum connections of one tenant to unproven sites for each free one. It is lower, because such a site may hold a
 * connection for minutes.
 */
const HELD_PER_FREE_UNPROVEN = 3;

/** The site that connections go to, known by its identity alone. */
type SiteIdentity = object;

export class Slots {
  readonly capacity: number;
  readonly #all: Shares<string>;
  readonly #unproven: Shares<string>;
  /** Connections of each tenant by their sites. */
  readonly #bySite = new Map<string, Map<SiteIdentity, number>>();

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#all = new Shares(capacity, { perFree: HELD_PER_FREE });
    const unproven = capacity - Math.floor(capacity * RESERVED_PART);
    this.#unproven = new Shares(unproven, { perFree: HELD_PER_FREE_UNPROVEN });
  }

  /** Returns true when the tenant may open one more connection, to a site that is proven or not. */
  mayOpen(tenantId: string, isProven: boolean): boolean {
    return this.#all.mayTake(tenantId) && (isProven || this.#unproven.mayTake(tenantId));
  }

  /** Returns true when the tenant has more connections than its share, because other tenants have come since. */
  isOver({ tenantId, isProven }: Charge): boolean {
    return this.#all.isOver(tenantId) || (!isProven && this.#unproven.isOver(tenantId));
  }

  /** Returns true when the tenant has more connections to the site than to its sites on average. */
  hasMostAt(tenantId: string, site: SiteIdentity): boolean {
    const bySite = this.#bySite.get(tenantId);
    return bySite ? (bySite.get(site) ?? 0) * bySite.size > this.#all.heldBy(tenantId) : false;
  }

  /** Counts a connection to the site for the tenant. */
  open(charge: Charge, site: SiteIdentity): Slot {
    const count = (one: Charge, by: 1 | -1) => this.#count(one, site, by);
    return new Slot(count, charge);
  }

  #count({ tenantId, isProven }: Charge, site: SiteIdentity, by: 1 | -1): void {
    for (const shares of isProven ? [this.#all] : [this.#all, this.#unproven])
      if (by === 1) shares.count(tenantId);
      else shares.release(tenantId);
    const bySite = this.#bySite.get(tenantId) ?? new Map<SiteIdentity, number>();
    const count = (bySite.get(site) ?? 0) + by;
    if (count > 0) bySite.set(site, count);
    else bySite.delete(site);
    if (bySite.size > 0) this.#bySite.set(tenantId, bySite);
    else this.#bySite.delete(tenantId);
  }
}

type Charge = { tenantId: string; isProven: boolean };
type Count = (charge: Charge, by: 1 | -1) => void;

/**
 * The slot of one session. It counts for the tenant whose mail the session took last, until that mail is settled and
 * the session waits for more. An idle session counts for nobody, since it is ended when its connection is needed.
 */
export class Slot {
  readonly #count: Count;
  #charge: Charge | undefined;
  #unsettled = 0;
  #isIdle = false;

  constructor(count: Count, charge: Charge) {
    this.#count = count;
    this.#take(charge);
  }

  /** The tenant that the slot counts for. Undefined while the session is idle and all its mail is settled. */
  get charge(): Readonly<Charge> | undefined {
    return this.#charge;
  }

  /** Records that the session has taken a delivery of the tenant. */
  assign(tenantId: string, isProven: boolean): void {
    this.#isIdle = false;
    this.#unsettled += 1;
    if (this.#charge?.tenantId === tenantId && this.#charge.isProven === isProven) return;
    this.#giveBack();
    this.#take({ tenantId, isProven });
  }

  /** Records that a delivery has its outcome. Returns true when the slot counts for nobody from now on. */
  settled(): boolean {
    this.#unsettled -= 1;
    return this.#giveBackIfIdle();
  }

  /** Records that the session begins to wait for mail. Returns true when the slot counts for nobody from now on. */
  idle(): boolean {
    this.#isIdle = true;
    return this.#giveBackIfIdle();
  }

  close(): void {
    this.#giveBack();
  }

  /** Returns the result of `ask` as if this session did not exist. */
  without<Answer>(ask: () => Answer): Answer {
    const charge = this.#charge;
    this.#giveBack();
    const answer = ask();
    if (charge) this.#take(charge);
    return answer;
  }

  #giveBackIfIdle(): boolean {
    if (!this.#isIdle || this.#unsettled > 0 || !this.#charge) return false;
    this.#giveBack();
    return true;
  }

  #take(charge: Charge): void {
    this.#charge = charge;
    this.#count(charge, 1);
  }

  #giveBack(): void {
    if (!this.#charge) return;
    this.#count(this.#charge, -1);
    this.#charge = undefined;
  }
}
