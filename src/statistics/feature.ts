import type { Feature } from '../feature.ts';
import { registerStatisticsApi } from './api.ts';

export const statistics = {
  name: 'statistics',
  routes: [registerStatisticsApi],
  // The counts of metrics are those of emails.
  reach: { domain: ['getMetrics'] },
} satisfies Feature;
