/** Limits the lines of a tail, which nobody could read faster. What is left out is counted. */

/** Maximum number of lines of a tail in a second. */
export const MAX_LINES_PER_SECOND = 20;
/** Maximum number of frames of a tail in a second. */
export const MAX_FRAMES_PER_SECOND = 4;

/** Returns how many of so many new lines the present frame may have. It is called once for each frame. */
export type LineLimit = (lines: number) => number;

/** Returns a limit for frames that come at most as often as they may: those of the last second share its lines. */
export function createLineLimit(): LineLimit {
  const frames: number[] = [];
  return (lines) => {
    const used = frames.reduce((sum, one) => sum + one, 0);
    const allowed = Math.min(lines, MAX_LINES_PER_SECOND - used);
    frames.push(allowed);
    if (frames.length >= MAX_FRAMES_PER_SECOND) frames.shift();
    return allowed;
  };
}
