import type { Feature } from '../feature.ts';
import { createConfirmationWork } from './worker.ts';

export const confirmations = {
  name: 'confirmations',
  works: [createConfirmationWork],
} satisfies Feature;
