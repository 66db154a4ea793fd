import type { Feature } from '../feature.ts';

export const inbound = {
  name: 'inbound',
  ids: ['in', 'tsk'],
} satisfies Feature;
