/**
 * Segments. At Resend a segment is a group to which contacts are added by hand. Here it is a segment whose filter asks for a property, which
 * its contacts have; the name of the property is in the filter alone. Segments with other filters can be read and sent to.
 */
import type { Static } from 'typebox';
import type { Filter } from '../../../audiences/segments/filter.ts';
import type { segmentSchema } from '../../../audiences/segments/schemas.ts';
import { type Calls, path } from '../../../http/json/calls.ts';
import { AppError } from '../../../system/errors.ts';
import { isId, newId } from '../../../system/ids.ts';

export type ShownSegment = Pick<
  Static<typeof segmentSchema>,
  'id' | 'name' | 'audienceId' | 'filter' | 'createdAt'
>;

const PROPERTIES = 'properties.';
const KEY = /^segment_[0-9a-z]{26}$/;

/** Returns the filter of a new segment, with a property of its own. `now` is in Unix milliseconds. */
export function handPickedFilter(now: number): Filter {
  const key = newId('seg', now).replace('seg_', 'segment_');
  return { op: 'and', rules: [{ field: `${PROPERTIES}${key}`, cmp: 'exists' }] };
}

/** True for the name of a property that puts a contact into a segment. */
export function isMembership(key: string): boolean {
  return KEY.test(key);
}

/** Returns the name of the property that puts contacts into a segment; undefined for a segment with another filter. */
export function membershipOf({ filter }: Pick<ShownSegment, 'filter'>): string | undefined {
  const [rule, ...others] = (filter as Filter).rules;
  if (!rule || others.length > 0 || !('field' in rule) || rule.cmp !== 'exists') return undefined;
  const key = rule.field.slice(PROPERTIES.length);
  return rule.field.startsWith(PROPERTIES) && isMembership(key) ? key : undefined;
}

/** A group of contacts that an id names: an audience of ours as a whole, or a segment of one. */
export type Group = {
  audienceId: string;
  /** Undefined for an audience. */
  segment: ShownSegment | undefined;
};

/**
 * Returns the group that an id names. The id of an audience of ours is taken wherever Resend has that of a segment.
 * @throws AppError not_found for a segment that does not exist
 */
export async function getGroup(id: string, calls: Calls): Promise<Group> {
  if (isId('aud', id)) return { audienceId: id, segment: undefined };
  const segment = await getSegment(id, calls);
  return { audienceId: segment.audienceId, segment };
}

/** Returns a segment without the number of its contacts. */
export function getSegment(id: string, calls: Calls): Promise<ShownSegment> {
  return calls.get(path`/segments/${id}`, { count: false });
}

/**
 * Returns the name of the property that puts contacts into a segment.
 * @throws AppError invalid_state for a segment whose contacts follow from a filter
 */
export function requireMembership(segment: Pick<ShownSegment, 'name' | 'filter'>): string {
  const key = membershipOf(segment);
  if (key !== undefined) return key;
  const message = `The contacts of the segment ${segment.name} follow from its filter, so that none can be added or removed`;
  throw new AppError('invalid_state', message);
}

/** Returns a segment as an item of Resend's list. */
export function showSegmentItem({ id, name, createdAt }: Pick<ShownSegment, 'id' | 'name' | 'createdAt'>) {
  return { id, name, created_at: createdAt };
}
