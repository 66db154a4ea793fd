/** Colours of the states of imports and exports. */
import type { JobRow } from '../../db/marketing-tables.ts';
import type { Tone } from '../frame/elements.tsx';

export const JOB_TONES: Record<JobRow['status'], Tone> = {
  waiting: 'warning',
  queued: 'neutral',
  running: 'neutral',
  completed: 'good',
  failed: 'bad',
};
