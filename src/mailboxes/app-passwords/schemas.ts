/** Schemas of the app passwords of mailboxes, which are not part of the specification. */
import { type Static, Type } from 'typebox';
import { PROTOCOLS } from '../../accounts/protocols.ts';
import type { AppPasswordRow } from '../../db/mailbox-tables.ts';
import { PLAIN_TEXT } from '../../http/json/plain-text.ts';
import { isoTime } from '../../system/clock.ts';
import { MAX_ALLOWED_IPS, showAllowedIps } from '../../tenants/allowed-ips.ts';
import { protocolsOf } from './match.ts';

/** Maximum length of a name. */
const MAX_NAME_CHARACTERS = 200;

const name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_CHARACTERS,
  pattern: PLAIN_TEXT,
  description: 'Name of the mail program or the device that uses the password.',
});
const protocol = Type.Enum([...PROTOCOLS]);
const allowedIps = Type.Union(
  [Type.Array(Type.String(), { minItems: 1, maxItems: MAX_ALLOWED_IPS }), Type.Null()],
  { description: 'Addresses and CIDR blocks from which the password may be used; null allows any.' },
);
const expiresAt = Type.Union([Type.String(), Type.Null()], {
  description: 'ISO 8601 with an offset; null: never. Sessions that are open at this time end.',
});

const EXAMPLE = {
  name: 'Thunderbird on the laptop',
  protocols: ['imap', 'smtp'],
  allowedIps: ['192.0.2.0/24'],
  expiresAt: '2030-01-01T00:00:00.000Z',
};

export const newAppPasswordSchema = Type.Object(
  {
    name,
    protocols: Type.Optional(
      Type.Array(protocol, {
        minItems: 1,
        maxItems: PROTOCOLS.length,
        description: 'Protocols in which the password is valid; all of them unless they are given.',
      }),
    ),
    member: Type.Optional(
      Type.String({ description: 'Address of the member that the password of a shared mailbox is for.' }),
    ),
    allowedIps: Type.Optional(allowedIps),
    expiresAt: Type.Optional(expiresAt),
  },
  { examples: [EXAMPLE] },
);
export type NewAppPassword = Static<typeof newAppPasswordSchema>;

const shownFields = {
  id: Type.String(),
  mailboxId: Type.String(),
  memberId: Type.Union([Type.String(), Type.Null()], {
    description: 'The mailbox of the member that has the password; null for a personal mailbox.',
  }),
  name,
  protocols: Type.Array(protocol),
  hint: Type.String({ description: 'The first 8 characters, by which the password can be recognised.' }),
  allowedIps,
  createdAt: Type.String(),
  lastUsedAt: Type.Union([Type.String(), Type.Null()], {
    description: 'Time of the last login, to the minute; null before the first.',
  }),
  expiresAt,
};

const SHOWN_EXAMPLE = {
  id: 'apw_01khq3z5vgxw1r8t6n2m4c9b7d',
  mailboxId: 'mbx_01khq3z5vgxw1r8t6n2m4c9b7d',
  memberId: null,
  ...EXAMPLE,
  hint: 'k3n8vq7w',
  createdAt: '2026-03-01T09:00:00.000Z',
  lastUsedAt: null,
};

export const appPasswordSchema = Type.Object(shownFields, {
  title: 'AppPassword',
  examples: [SHOWN_EXAMPLE],
});

/** The answer of a create request, which is the only one that contains the password. */
export const createdAppPasswordSchema = Type.Object(
  {
    ...shownFields,
    password: Type.String({
      description:
        'The password. It is not shown again. Case, spaces and hyphens do not matter when it is entered.',
    }),
  },
  {
    title: 'CreatedAppPassword',
    examples: [{ ...SHOWN_EXAMPLE, password: 'k3n8-vq7w-z2md-x9c4-tj5r-fh6p-8sb1-ey0g-wn7a' }],
  },
);

/** Returns an app password as the API shows it. */
export function showAppPassword(row: AppPasswordRow): Static<typeof appPasswordSchema> {
  const time = (value: number | null) => (value === null ? null : isoTime(value));
  return {
    id: row.id,
    mailboxId: row.mailboxId,
    memberId: row.memberId,
    name: row.name,
    protocols: protocolsOf(row),
    hint: row.hint,
    allowedIps: row.allowedIps === null ? null : showAllowedIps(row.allowedIps),
    createdAt: isoTime(row.createdAt),
    lastUsedAt: time(row.lastUsedAt),
    expiresAt: time(row.expiresAt),
  };
}
