/** Finds UIDs in lists that rise. */

/** Returns the index of the first of `count` UIDs that is at least `uid`; `count` when there is none. */
export function lowerBound(uids: ArrayLike<number>, count: number, uid: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((uids[middle] as number) < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of a UID among the first `count`; -1 when it is not there. */
export function indexOfUid(uids: ArrayLike<number>, count: number, uid: number): number {
  const index = lowerBound(uids, count, uid);
  return index < count && uids[index] === uid ? index : -1;
}
