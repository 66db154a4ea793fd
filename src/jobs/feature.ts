import type { Feature } from '../feature.ts';
import { createJobSweep } from './sweep.ts';

export const jobs = {
  name: 'jobs',
  works: [createJobSweep],
} satisfies Feature;
