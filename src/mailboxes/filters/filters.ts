/** The filters of a mailbox, which are what it does with its mail by itself: the automatic reply, forwarding, and rules. */
import type { Rule, Vacation } from './schemas.ts';

export type Filters = {
  vacation: Vacation | null;
  forwardTo: readonly string[];
  keepCopy: boolean;
  rules: readonly Rule[];
};

export const NO_FILTERS: Filters = { vacation: null, forwardTo: [], keepCopy: true, rules: [] };

/** Returns those filters that a request names; undefined when it names none. */
export function filtersIn(request: Partial<Filters>): Partial<Filters> | undefined {
  const { vacation, forwardTo, keepCopy, rules } = request;
  const named = {
    ...(vacation !== undefined && { vacation }),
    ...(forwardTo !== undefined && { forwardTo }),
    ...(keepCopy !== undefined && { keepCopy }),
    ...(rules !== undefined && { rules }),
  };
  return Object.keys(named).length === 0 ? undefined : named;
}
