import type { Feature } from '../feature.ts';
import { registerStatisticsApi } from './api.ts';

export const statistics = {
  name: 'statistics',
  routes: [registerStatisticsApi],
} satisfies Feature;
