import type { Feature } from '../feature.ts';
import { createConfirmationKind } from './worker.ts';

export const confirmations = {
  name: 'confirmations',
  tasks: [createConfirmationKind],
} satisfies Feature;
