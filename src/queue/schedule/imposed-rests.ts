/**
 * The rests that back-off rules have imposed on a site, or on tenants there. Unlike a rest after failures (learned.ts), such a rest
 * ends at its time or when it is lifted, whatever the site accepts meanwhile. Times are milliseconds of the monotonic clock.
 */
import type { Rest } from './events.ts';

export class ImposedRests {
  #ofSite: Rest | undefined;
  readonly #ofTenants = new Map<string, Rest>();

  /** Puts these rests in force instead of those before. */
  replace(rests: readonly Rest[]): void {
    this.#ofSite = undefined;
    this.#ofTenants.clear();
    for (const rest of rests) {
      const { tenantId } = rest;
      if (tenantId === null) this.#ofSite = longer(this.#ofSite, rest);
      else this.#ofTenants.set(tenantId, longer(this.#ofTenants.get(tenantId), rest));
    }
  }

  /** Returns the rest of the whole site; undefined when there is none now. */
  ofSite(now: number): Rest | undefined {
    return this.#ofSite && now < this.#ofSite.until ? this.#ofSite : undefined;
  }

  /** Returns the rest of a tenant at the site; undefined when there is none now. */
  ofTenant(tenantId: string, now: number): Rest | undefined {
    const rest = this.#ofTenants.get(tenantId);
    return rest && now < rest.until ? rest : undefined;
  }

  /** Returns the tenants that rest, with their ends and reasons. */
  tenants(now: number): { tenantId: string; until: number; reason: string }[] {
    return [...this.#ofTenants]
      .filter(([, { until }]) => now < until)
      .map(([tenantId, { until, reason }]) => ({ tenantId, until, reason }));
  }

  /** Returns the ends of all rests. */
  ends(): number[] {
    const ofTenants = [...this.#ofTenants.values()].map(({ until }) => until);
    return this.#ofSite ? [this.#ofSite.until, ...ofTenants] : ofTenants;
  }
}

function longer(one: Rest | undefined, other: Rest): Rest {
  return one && one.until >= other.until ? one : other;
}
