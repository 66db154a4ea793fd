/** Checks that the clock has not been set back. A wrong clock makes signatures, certificates and retries wrong. */
import { isoTime } from '../../system/clock.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, fail } = findingsOf('clock');

const MS_PER_SECOND = 1_000;

export const clock: Check = {
  name: 'clock',
  async run({ clock: { now }, clockWatch }) {
    const { behindMs } = clockWatch;
    const shown = isoTime(now());
    if (behindMs === 0) return [ok('clock', `it shows ${shown}`)];
    const says = `it shows ${shown}, ${Math.round(behindMs / MS_PER_SECOND)} seconds before a time that it showed earlier`;
    return [fail('clock', says, 'let NTP set the clock ("timedatectl set-ntp true")')];
  },
};
