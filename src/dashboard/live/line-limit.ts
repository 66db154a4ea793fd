/** Limits the lines of a tail, which nobody could read faster. What is left out is counted. */
import type { Clock } from '../../system/clock.ts';

/** Maximum number of lines of a tail in a second. */
export const MAX_LINES_PER_SECOND = 20;
/** Maximum number of frames of a tail in a second. */
export const MAX_FRAMES_PER_SECOND = 4;

const SECOND_MS = 1_000;

/** Returns how many of so many new lines the present frame may have. It is called once for each frame. */
export type LineLimit = (lines: number) => number;

/** Returns a limit for frames that come at most as often as they may: those of the last second share its lines. */
export function createLineLimit(clock: Pick<Clock, 'elapsed'>): LineLimit {
  let frames: { at: number; lines: number }[] = [];
  return (lines) => {
    const at = clock.elapsed();
    frames = frames.filter((frame) => frame.at > at - SECOND_MS);
    const used = frames.reduce((sum, frame) => sum + frame.lines, 0);
    const allowed = Math.min(lines, MAX_LINES_PER_SECOND - used);
    frames.push({ at, lines: allowed });
    return allowed;
  };
}
