import type { Feature } from '../feature.ts';
import { moveDueJobs } from './store.ts';
import { createJobSweep } from './worker.ts';

export const jobs = {
  name: 'jobs',
  works: [createJobSweep],
  dueWorks: [{ move: (db, setBack) => db.commit(moveDueJobs, setBack), wakeup: 'jobs' }],
} satisfies Feature;
