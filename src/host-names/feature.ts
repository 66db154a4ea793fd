/** The host names under which this installation serves HTTP; `served-names.ts` is the door. */
import type { Feature } from '../feature.ts';

export const hostNames = { name: 'host-names' } satisfies Feature;
