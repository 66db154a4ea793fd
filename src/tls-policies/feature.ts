/** TLS policies of other domains, which delivery obeys: MTA-STS and DANE; `delivery-tls.ts` is the door. */
import type { Feature } from '../feature.ts';
import { createStsRefreshWork } from './sts-policies.ts';

export const tlsPolicies = {
  name: 'tls-policies',
  works: [createStsRefreshWork],
} satisfies Feature;
