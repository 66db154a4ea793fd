/** Submission of mail by people and applications that have logged in; `listeners.ts` is the door. */
import type { Feature } from '../feature.ts';
import { submissionSteps } from './expire.ts';
import { createReportKind } from './reports/work.ts';

export const submission = {
  name: 'submission',
  tasks: [createReportKind],
  retention: submissionSteps,
} satisfies Feature;
