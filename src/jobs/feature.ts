/** Jobs, which are imports and exports: their rows, their runs as tasks, and their removal; `store.ts` is the door. */
import type { Feature } from '../feature.ts';
import { createJobSweep } from './sweep.ts';

export const jobs = {
  name: 'jobs',
  works: [createJobSweep],
} satisfies Feature;
