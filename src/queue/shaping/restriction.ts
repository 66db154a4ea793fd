/** A restriction: what a back-off rule has imposed on the mail of a place, until a time. */
import type { LoweredLimits, Rule } from './rule.ts';

/** The mail for which a restriction is in force. */
export type Place = {
  /** The key of a site, or `provider NAME` for all sites of one. */
  place: string;
  /** The tenant whose mail rests there; null for the mail of all. */
  tenantId: string | null;
  /** Name of the source that rests there; null for all. */
  source: string | null;
};

export type Restriction = Place & {
  /** Identifies the rule and the place, so that a rule that acts again renews its restriction. */
  id: string;
  rule: Rule['id'];
  /** Null for a rest. */
  lower: LoweredLimits | null;
  /** The reply that was met last, as it is stored and shown. */
  reason: string;
  /** Unix milliseconds. */
  since: number;
  until: number;
};

/** Returns the place of all sites of a provider. No key of a site has this form. */
export function placeOfProvider(provider: string): string {
  return `provider ${provider}`;
}

/** Returns the provider whose sites a place stands for; undefined for a single site. */
export function providerOfPlace(place: string): string | undefined {
  const prefix = placeOfProvider('');
  return place.startsWith(prefix) ? place.slice(prefix.length) : undefined;
}

/** Returns the id of the restriction of a rule at a place. */
export function restrictionId(rule: Rule['id'], { place, tenantId, source }: Place): string {
  return [rule, tenantId ?? '-', source ?? '-', place].join(' ');
}
