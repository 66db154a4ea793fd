/** Schemas of the inbound routes API (specification 2.10 and 4.11). */
import { type Static, Type } from 'typebox';
import type { InboundRouteRow } from '../db/inbound-tables.ts';
import { isoTime } from '../system/clock.ts';
import { MAX_URL_CHARACTERS } from '../webhooks/posting/destination.ts';
import { EXAMPLE_SECRET, isoTimeOrNull, type Lag, secretField, waitingSince } from '../webhooks/schemas.ts';

const fields = {
  address: Type.String({
    description:
      'Address at a verified domain, or `*@<domain>` for every address that no other route names. Letters are compared without case. ' +
      'Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.',
  }),
  destination: Type.String({
    maxLength: MAX_URL_CHARACTERS,
    description:
      'https URL to which messages are posted, without user name and fragment, and not on a mail port.',
  }),
  enabled: Type.Boolean({ description: 'True when messages are forwarded; default true.' }),
};

const EXAMPLE = {
  address: 'support@shop.example',
  destination: 'https://shop.example/inbound',
  enabled: true,
};

export const newRouteSchema = Type.Object(
  { ...fields, enabled: Type.Optional(fields.enabled) },
  { examples: [EXAMPLE] },
);
export type NewRoute = Static<typeof newRouteSchema>;

export const routeChangeSchema = Type.Partial(Type.Object(fields), { examples: [{ enabled: false }] });

export const routeFilter = {
  address: Type.Optional(
    Type.String({ description: 'Only the route with exactly this address, which may be `*@<domain>`.' }),
  ),
  domain: Type.Optional(Type.String({ description: 'Only routes of this domain.' })),
};

const shownFields = {
  id: Type.String(),
  address: Type.String({ description: 'Address in lower case, with its domain in A-labels.' }),
  destination: Type.String(),
  enabled: Type.Boolean(),
  disabledReason: Type.Union([Type.Enum(['manual', 'failures', 'gone']), Type.Null()], {
    description: '`failures`: no post had succeeded for days; `gone`: the receiver answered 410.',
  }),
  disabledAt: Type.Union([Type.String(), Type.Null()]),
  failingSince: Type.Union([Type.String(), Type.Null()], {
    description: 'Time since which no post has succeeded; null while posts succeed.',
  }),
  suspendedUntil: Type.Union([Type.String(), Type.Null()], {
    description:
      'Time before which nothing is posted, because the last post failed; null while posts succeed.',
  }),
  waitingSince,
  createdAt: Type.String(),
  updatedAt: Type.String(),
};
const SHOWN_EXAMPLE = {
  id: 'rt_01khq3z5vgxw1r8t6n2m4c9b7d',
  ...EXAMPLE,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  suspendedUntil: null,
  waitingSince: null,
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
};

export const routeSchema = Type.Object(shownFields, { title: 'InboundRoute', examples: [SHOWN_EXAMPLE] });

/** The answer of a create request, which is the only one that contains the secret. */
export const secretRouteSchema = Type.Object(
  { ...shownFields, secret: secretField },
  { title: 'InboundRouteWithSecret', examples: [{ ...SHOWN_EXAMPLE, secret: EXAMPLE_SECRET }] },
);

/** Returns a route as the API shows it. */
export function showRoute(row: InboundRouteRow & Lag, nowMs: number): Static<typeof routeSchema> {
  const { suspendedUntil } = row;
  return {
    id: row.id,
    address: row.address,
    destination: row.destination,
    enabled: row.enabled === 1,
    disabledReason: row.disabledReason,
    disabledAt: isoTimeOrNull(row.disabledAt),
    failingSince: isoTimeOrNull(row.failingSince),
    suspendedUntil: suspendedUntil !== null && suspendedUntil > nowMs ? isoTime(suspendedUntil) : null,
    waitingSince: isoTimeOrNull(row.waitingSince),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
