/** Numbers of things that an action is about, which are counted before it and up to a maximum. */
import type { BaseContext } from '../page.ts';

/** Number at which counting stops. */
export const MAX_COUNTED = 10_000;

/** Returns a number that was counted up to one more than the maximum. */
export function countText(
  { texts: { frame }, formats: { number } }: Pick<BaseContext, 'texts' | 'formats'>,
  count: number,
): string {
  return count > MAX_COUNTED ? frame.more(number(MAX_COUNTED)) : number(count);
}
