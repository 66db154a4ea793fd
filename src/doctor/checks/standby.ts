/** Checks that the standby store gets what changes. */
import { isoTime } from '../../system/clock.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('standby');

/** Age of the oldest change that the store does not have, in milliseconds, from which the check warns and fails. */
const WARN_MS = 60_000;
const FAIL_MS = 3_600_000;
/** Time after the start in which a base may be made and sent, in milliseconds. */
const FIRST_BASE_MS = 3_600_000;

export const standby: Check = {
  name: 'standby',
  async run({ clock, config, standby: { progress } }) {
    const { store } = config.standby;
    if (!progress) return [];
    const advice = 'look at "postrider standby status" and the log';
    const { storedCutAt, oldestUnstoredAt, failure, startedAt, isHeld } = progress;
    if (isHeld) return [ok(store, 'nothing is sent before "postrider restore release"')];
    const now = clock.now();
    if (failure !== undefined) {
      const level = now - (storedCutAt ?? startedAt) >= FAIL_MS ? fail : warn;
      return [level(store, `the store does not take what is sent: ${failure}`, advice)];
    }
    if (storedCutAt === null) {
      const says = 'the base, or what differs, is being sent';
      return [now - startedAt >= FIRST_BASE_MS ? warn(store, says, advice) : ok(store, says)];
    }
    const lagMs = oldestUnstoredAt === null ? 0 : now - oldestUnstoredAt;
    const says = `the newest cut is of ${isoTime(storedCutAt)}`;
    if (lagMs >= FAIL_MS) return [fail(store, says, advice)];
    if (lagMs >= WARN_MS) return [warn(store, says, advice)];
    return [ok(store, says)];
  },
};
