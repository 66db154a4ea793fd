import type { Feature } from '../feature.ts';
import { registerTopicsApi } from './api.ts';

export const topics = {
  name: 'topics',
  ids: ['top'],
  routes: [registerTopicsApi],
} satisfies Feature;
