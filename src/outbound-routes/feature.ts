/** Routes of outgoing mail, which the operator sets; `find.ts` and `relay.ts` are the doors. */
import type { Feature } from '../feature.ts';
import { registerOutboundRoutes } from './admin-api.ts';

export const outboundRoutes = {
  name: 'outbound-routes',
  operatorRoutes: [registerOutboundRoutes],
} satisfies Feature;
