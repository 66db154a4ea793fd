/**
 * Shapes the mail of sites: it gives each its limits, and lets sites, tenants there and sources rest, or lowers limits, when replies
 * meet a back-off rule. Restrictions are kept in the database, so that they survive restarts, and are written when they begin or
 * have grown considerably, never for each message. The counts of matches (matches.ts) survive too.
 */

import { providerOfSite } from '../../providers/provider-of-site.ts';
import { isoTime } from '../../system/clock.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { createLru } from '../../system/lru.ts';
import type { SiteLimits } from '../schedule/limits.ts';
import type { SendingApp } from '../sending-app.ts';
import { type ResolvedLimits, resolveLimits, type ShapedSite, siteLimits } from './limits-of.ts';
import { Matches } from './matches.ts';
import { type Place, placeOfProvider, type Restriction } from './restriction.ts';
import { Restrictions } from './restrictions.ts';
import { deleteRestriction, listRestrictions, recordRestriction } from './restrictions-store.ts';
import type { Rule } from './rule.ts';
import type { Refusal } from './rule-table.ts';
import { openRules, type Rules } from './rules-file.ts';

/** Share of its time by which a restriction has to grow before it is written again. */
const WRITTEN_AFTER_PART = 1 / 10;
/** Maximum number of sites whose replies are compared with the rules. The one that was routed longest ago goes first. */
const MAX_SITES = 10_000;

type ShapingApp = Pick<SendingApp, 'clock' | 'config' | 'db' | 'log'>;

/**
 * Limits or rests have changed at a place, which is a site or a provider (restriction.ts). `isAboutSource` is true when a source
 * begins to rest there or no longer does, so that mail may take another source.
 */
export type ShapingChange = { place: string; isAboutSource: boolean };

/** A rest that is in force; `until` is a time of the monotonic clock in milliseconds. */
type SiteRest = { tenantId: string | null; until: number; reason: string };

/** The refusals of one transaction, by whatever step. */
export type RefusedMail = {
  /** The key of the site. */
  site: string;
  tenantId: string;
  refusals: readonly Pick<Refusal, 'report' | 'class' | 'ownNames'>[];
};

export class Shaping {
  readonly #app: ShapingApp;
  readonly #rules: Rules;
  readonly #matches: Matches;
  readonly #restrictions: Restrictions;
  /** End of each restriction as it is stored, in Unix milliseconds, by its id. */
  readonly #written = new Map<Restriction['id'], number>();
  readonly #listeners = new Set<(change: ShapingChange) => void>();
  readonly #sites = createLru<string, ShapedSite>(MAX_SITES);
  /** Resolves when what was in force at the last stop is in force again. */
  readonly ready: Promise<void>;

  /** `isOwn` says whether this thread shapes the mail of a place (restriction.ts). */
  constructor(
    app: ShapingApp,
    rules: Rules = openRules(app),
    isOwn: (place: string) => boolean = () => true,
  ) {
    this.#app = app;
    this.#rules = rules;
    this.#matches = new Matches(app);
    this.#restrictions = new Restrictions(app.clock, (ended) => {
      for (const restriction of ended) {
        this.#written.delete(restriction.id);
        this.#notify(restriction);
      }
    });
    this.ready = this.#load(isOwn).catch((error) =>
      app.log.error({ err: error }, 'restrictions of sites could not be read'),
    );
  }

  async #load(isOwn: (place: string) => boolean): Promise<void> {
    const { db, clock } = this.#app;
    await this.#matches.load();
    for (const restriction of await listRestrictions(db.read, clock.now())) {
      if (!isOwn(restriction.place)) continue;
      this.#restrictions.restore(restriction);
      this.#written.set(restriction.id, restriction.until);
      this.#matches.remember(restriction);
    }
  }

  /** Stops the timer that ends restrictions, and stores what was counted. */
  stop(): Promise<void> {
    this.#restrictions.close();
    this.#listeners.clear();
    return this.#matches.store();
  }

  /** Calls the listener with each change. Returns a function that ends this. */
  listen(listener: (change: ShapingChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the limits of a site, whose refusals are counted from now on. */
  limitsOf(site: ShapedSite): SiteLimits {
    this.#sites.set(site.key, site);
    return siteLimits(this.resolve(site), site, providerOfSite(site));
  }

  /** Returns the limits of a site, each with its origin. */
  resolve(site: ShapedSite): ResolvedLimits {
    return resolveLimits(this.#app.config, site, this.restrictionsAt(site));
  }

  /** Returns the restrictions in force at a site, those of its provider included. */
  restrictionsAt(site: ShapedSite): Restriction[] {
    return placesOf(site).flatMap((place) => this.#restrictions.at(place));
  }

  /** Returns the sites that mail was routed to, those of the latest mail first. There are at most `MAX_SITES`. */
  get sites(): ShapedSite[] {
    return [...this.#sites.values()];
  }

  /** Returns all restrictions in force. */
  get restrictions(): Restriction[] {
    return this.#restrictions.all();
  }

  /** Returns the rests in force at a site. */
  restsOf(site: ShapedSite): SiteRest[] {
    return this.restrictionsAt(site)
      .filter(
        (restriction) => restriction.lower === null && (restriction.source ?? site.source) === site.source,
      )
      .map(({ id, tenantId, rule, reason }) => ({
        tenantId,
        until: this.#restrictions.endOf(id),
        reason: `${rule}: ${reason}`,
      }));
  }

  /** Returns true when the source of a site rests there, so that mail may leave from another one. */
  isSourceResting(site: ShapedSite): boolean {
    return this.restrictionsAt(site).some(
      ({ lower, source }) => lower === null && source !== null && source === site.source,
    );
  }

  /** Counts the refusals of a transaction. Each rule counts it once, however many recipients met the rule. */
  observe(mail: RefusedMail): void {
    const site = this.#sites.get(mail.site);
    if (!site) return;
    const { tenantId } = mail;
    const met = new Map<Rule, { reason: string; target: Place }>();
    for (const refusal of mail.refusals) {
      const { text, mx } = refusal.report;
      const provider = providerOfReply(site, mx);
      for (const rule of this.#rules.table.match({ ...refusal, provider }))
        met.set(rule, {
          reason: cleanForeignText(text),
          target: targetOf(rule, { site, tenantId, provider }),
        });
    }
    for (const [rule, { reason, target }] of met) this.#meet(rule, reason, target);
  }

  /** Ends a restriction before its time, because the operator says so. Returns false when it is not in force. */
  async lift(id: Restriction['id']): Promise<boolean> {
    const lifted = this.#restrictions.remove(id);
    if (!lifted) return false;
    this.#written.delete(id);
    await this.#app.db.commit(deleteRestriction, { id });
    this.#notify(lifted);
    return true;
  }

  /** Forgets how often replies of a site have met rules, also those about its provider. What is in force stays so. */
  forgetMatches(key: string): void {
    const site = this.#sites.get(key);
    if (site) this.#matches.forget(placesOf(site));
  }

  #meet(rule: Rule, reason: string, target: Place): void {
    const { log } = this.#app;
    if (!this.#matches.count(rule, target)) return;
    const { restriction, isNew } = this.#restrictions.impose(rule, { ...target, reason });
    this.#write(rule, restriction);
    // A limit that stays lowered for longer changes nothing for the schedule.
    if (isNew || restriction.lower === null) this.#notify(restriction, isNew);
    if (!isNew) return;
    const { place, tenantId, source, lower, until } = restriction;
    const action = lower === null ? 'rest' : 'lower';
    log.warn(
      { rule: rule.id, place, tenantId, source, action, lower, until: isoTime(until), reply: reason },
      'a back-off rule slows mail down',
    );
  }

  /** Writes a restriction that has begun or has grown considerably. */
  #write(rule: Rule, restriction: Restriction): void {
    const { db, clock } = this.#app;
    const written = this.#written.get(restriction.id) ?? 0;
    if (restriction.until - written >= rule.forMs * WRITTEN_AFTER_PART) {
      this.#written.set(restriction.id, restriction.until);
      db.commitInBackground(recordRestriction, { restriction, now: clock.now() });
    }
  }

  #notify({ place, source }: Restriction, beginsOrEnds = true): void {
    const change = { place, isAboutSource: beginsOrEnds && source !== null };
    for (const listener of this.#listeners) listener(change);
  }
}

/** Returns true when a restriction at the place is about the site. */
export function isAt(site: ShapedSite, place: string): boolean {
  return placesOf(site).includes(place);
}

/** Returns the provider of the site when the host that has replied is its own too: the site may have had other hosts then. */
function providerOfReply({ hosts, relay }: ShapedSite, mx: string | null): string | null {
  return providerOfSite({ hosts: [...hosts, mx?.toLowerCase() ?? ''], relay })?.name ?? null;
}

/** Returns what a rule acts on. Where there is no provider, the site stands for it. */
function targetOf(
  rule: Rule,
  { site, tenantId, provider }: { site: ShapedSite; tenantId: string; provider: string | null },
): Place {
  const wide = provider === null ? site.key : placeOfProvider(provider);
  switch (rule.on) {
    case 'site':
      return { place: site.key, tenantId: null, source: null };
    case 'provider':
      return { place: wide, tenantId: null, source: null };
    case 'tenant':
      return { place: site.key, tenantId, source: null };
    case 'source':
      return { place: wide, tenantId: null, source: site.source };
  }
}

function placesOf(site: ShapedSite): string[] {
  const provider = providerOfSite(site);
  return provider === undefined ? [site.key] : [site.key, placeOfProvider(provider.name)];
}
