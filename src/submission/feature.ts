/** Submission of mail by people and applications that have logged in; `listeners.ts` is the door. */
import type { Feature } from '../feature.ts';
import { submissionSteps } from './expire.ts';
import { createReportsWork } from './reports/work.ts';

export const submission = {
  name: 'submission',
  works: [createReportsWork],
  retention: submissionSteps,
} satisfies Feature;
