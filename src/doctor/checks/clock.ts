/**
 * Checks that the clock has not been set back, and that NTP keeps it right. A wrong clock makes signatures, certificates and retries
 * wrong.
 */
import { isoTime } from '../../system/clock.ts';
import { type Check, type CheckContext, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('clock');

const MS_PER_SECOND = 1_000;

type ClockContext = Pick<CheckContext, 'machine'> & {
  clock: Pick<CheckContext['clock'], 'now'>;
  clockWatch: Pick<CheckContext['clockWatch'], 'behindMs'>;
};

export const clock = {
  name: 'clock',
  async run({ clock: { now }, clockWatch: { behindMs }, machine }: ClockContext) {
    const shown = `it shows ${isoTime(now())}`;
    if (behindMs > 0) {
      const says = `${shown}, ${Math.round(behindMs / MS_PER_SECOND)} seconds before a time that it showed earlier`;
      return [fail('clock', says, 'let NTP set the clock ("timedatectl set-ntp true")')];
    }
    const sync = await machine.askClockSync();
    if (sync === 'unsynchronized')
      return [warn('clock', `${shown}, and NTP does not set it`, 'timedatectl set-ntp true')];
    return [ok('clock', sync === 'synchronized' ? `${shown}, set by NTP` : shown)];
  },
} satisfies Check;
