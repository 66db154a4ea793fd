/**
 * The sites that wait for a connection, by tenant and by group, such as a provider: a group that has all its connections is passed over
 * as a whole, however many of its sites wait. A site that no longer wants a connection is removed when its turn comes.
 */
import type { Groups } from './groups.ts';
import type { Site } from './site.ts';

/** Maximum number of sites of a tenant that are compared to find the least served one. */
const MAX_COMPARED = 64;
/** Stands for sites without a group. */
const NO_GROUP = '';

/** Sites that wait, the longest waiting first, by the names of their groups. */
type ByGroup = Map<string, Set<Site>>;

type Comparing = {
  now: number;
  /** A site that is passed over. */
  except?: Site | undefined;
};

export class WaitingSites {
  readonly #groups: Groups;
  /** By tenant, the one to be served next first. */
  readonly #byTenant = new Map<string, ByGroup>();

  constructor(groups: Groups) {
    this.#groups = groups;
  }

  /** True when no site waits. */
  get isEmpty(): boolean {
    return this.#byTenant.size === 0;
  }

  /** Puts a site behind the others of the tenant. One that waits already keeps its place. */
  add(tenantId: string, site: Site): void {
    const byGroup = this.#byTenant.get(tenantId) ?? new Map();
    const sites = byGroup.get(groupOf(site)) ?? new Set();
    this.#byTenant.set(tenantId, byGroup.set(groupOf(site), sites.add(site)));
  }

  remove(tenantId: string, site: Site, group = groupOf(site)): void {
    const byGroup = this.#byTenant.get(tenantId);
    const sites = byGroup?.get(group);
    if (!byGroup || !sites?.delete(site) || sites.size > 0) return;
    byGroup.delete(group);
    if (byGroup.size === 0) this.#byTenant.delete(tenantId);
  }

  /** Moves the tenant behind all others. */
  moveLast(tenantId: string): void {
    const byGroup = this.#byTenant.get(tenantId);
    if (!byGroup) return;
    this.#byTenant.delete(tenantId);
    this.#byTenant.set(tenantId, byGroup);
  }

  /** Yields the tenants with sites that wait, the one to be served next first. */
  tenants(): Iterable<string> {
    return this.#byTenant.keys();
  }

  /**
   * Returns the site of the tenant that may have a connection and has the fewest, among those that wait longest. Sites for which
   * `belongs` is false are removed.
   */
  leastServed(
    tenantId: string,
    { now, except, belongs }: Comparing & { belongs: (site: Site) => boolean },
  ): Site | undefined {
    let best: Site | undefined;
    let compared = 0;
    for (const [group, sites] of this.#byTenant.get(tenantId) ?? [])
      for (const site of sites) {
        if (!wantsFor(site, tenantId, now) || groupOf(site) !== group || !belongs(site)) {
          this.remove(tenantId, site, group);
          continue;
        }
        if (!this.#groups.mayOpen(site.limits.group)) break;
        if (site === except) continue;
        if (!best || site.sessions.size < best.sessions.size) best = site;
        if (best.sessions.size === 0 || ++compared === MAX_COMPARED) return best;
      }
    return best;
  }
}

function groupOf({ limits: { group } }: Site): string {
  return group?.name ?? NO_GROUP;
}

function wantsFor(site: Site, tenantId: string, now: number): boolean {
  return site.wantsSession(now) && site.hasMailOf(tenantId, now);
}
