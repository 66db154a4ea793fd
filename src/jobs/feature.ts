/** What imports and exports have in common: rows, runs as tasks, and removal; `store.ts` is the door. */
import type { Feature } from '../feature.ts';
import { createJobSweep } from './sweep.ts';

export const jobs = {
  name: 'jobs',
  works: [createJobSweep],
} satisfies Feature;
