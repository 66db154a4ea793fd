/** Schemas of the operator's routes of outgoing mail. */
import { type Static, Type } from 'typebox';
import { MAX_LOGIN_CHARACTERS, routeFields } from '../config/outbound.ts';
import type { OutboundRoute, Relay } from './route.ts';

/** Maximum size of the authorities of a route, which is more than a chain of ten certificates has. */
const MAX_PEM_CHARACTERS = 65_536;

/** A route as the operator sets it. Without `hosts` its mail goes to the MX hosts of its domain. */
export const newRouteSchema = Type.Object(
  {
    ...routeFields,
    /** Id or name of the tenant. */
    tenant: Type.Optional(Type.String()),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_LOGIN_CHARACTERS, pattern: '^[^\\u0000\\r\\n]+$' }),
    ),
    /** Certificates of the only authorities that are trusted, in PEM. */
    ca: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_PEM_CHARACTERS })),
  },
  { additionalProperties: false },
);
export type NewRoute = Static<typeof newRouteSchema>;

/** Returns a route as the operator sees it, without its secrets. */
export function showRoute({ name, tenantId, domain, relay, tlsPolicy, source }: OutboundRoute) {
  return { name, tenantId, domain, relay: relay && showRelay(relay), tlsPolicy, source };
}
export type ShownRoute = ReturnType<typeof showRoute>;

function showRelay({ hosts, port, tls, tlsName, authorities, login, ...relay }: Relay) {
  const { isPrivate, connections, recipientsPerMinute } = relay;
  return {
    hosts,
    port,
    tls,
    tlsName,
    user: login?.user ?? null,
    ownAuthorities: authorities !== null,
    private: isPrivate,
    connections,
    recipientsPerMinute,
  };
}
