import type { Feature } from '../feature.ts';
import { registerEmailsApi } from './api.ts';
import { emailSteps } from './expire.ts';
import { createIdempotencySweep } from './worker.ts';

export const emails = {
  name: 'emails',
  routes: [registerEmailsApi],
  works: [createIdempotencySweep],
  retention: emailSteps,
} satisfies Feature;
