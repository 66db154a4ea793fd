/** Schemas of the mailboxes API, which is not part of the specification. */
import { type Static, Type } from 'typebox';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { type Filters, NO_FILTERS } from './filters/filters.ts';
import { filterFields } from './filters/schemas.ts';

/** Maximum length of a display name. */
const MAX_NAME_CHARACTERS = 200;
/** Maximum size of a mailbox: 1 PiB. */
const MAX_QUOTA_BYTES = 2 ** 50;
/** Maximum number of aliases of a mailbox. */
const MAX_ALIASES = 100;
/** Maximum number of members of a shared mailbox: each may have an app password. */
const MAX_MEMBERS = 50;
/** Maximum number of disabled capabilities: more than there are. */
const MAX_DISABLED = 100;

const settings = {
  displayName: Type.Union(
    [Type.String({ maxLength: MAX_NAME_CHARACTERS, pattern: PLAIN_TEXT }), Type.Null()],
    {
      description: 'Name of the person or the role that the mailbox is for.',
    },
  ),
  password: Type.String({
    description: 'Password of 8 to 256 characters. It is stored as a hash, and never shown again.',
  }),
  passwordLogin: Type.Boolean({
    description: 'False when only app passwords open the mailbox.',
  }),
  passwordRecovery: Type.Boolean({
    description:
      'False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere.',
  }),
  timeZone: Type.Union([Type.String(), Type.Null()], {
    description: 'IANA name of the zone in which My mailbox shows times to the owner; null for UTC.',
  }),
  members: Type.Array(Type.String(), {
    maxItems: MAX_MEMBERS,
    description: 'Addresses of the mailboxes whose owners use this one, if it is shared.',
  }),
  ...filterFields,
  aliases: Type.Array(Type.String(), {
    maxItems: MAX_ALIASES,
    description:
      'Further addresses whose mail arrives in this mailbox, at domains for which the rules of `address` hold. ' +
      '`*@<domain>` stands for all addresses of a domain that nothing else receives for; one mailbox can have it.',
  }),
  scramLogin: Type.Boolean({
    description:
      'Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another.',
  }),
  quotaBytes: Type.Integer({
    minimum: 1,
    maximum: MAX_QUOTA_BYTES,
    description: 'Maximum size of the stored messages, in bytes.',
  }),
  disabledCapabilities: Type.Array(Type.String(), {
    maxItems: MAX_DISABLED,
    description:
      'IMAP capabilities that this mailbox is not offered, for a mail program that has trouble with one.',
  }),
};

const status = Type.Enum(['active', 'suspended'], {
  description: 'A `suspended` mailbox takes no mail, so that senders try again later, and nobody may log in.',
});

const kind = Type.Enum(['personal', 'shared'], {
  description:
    'A `shared` mailbox has no password: its members sign in to it with app passwords of their own, and may send from its addresses.',
});

const EXAMPLE = { address: 'ann@shop.example', displayName: 'Ann Lee' };

export const newMailboxSchema = Type.Object(
  {
    address: Type.String({
      description:
        'Address at a verified domain whose `productType` is `mailbox` or `both`. Letters are compared without case. ' +
        'Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.',
    }),
    kind: Type.Optional(kind),
    members: Type.Optional(settings.members),
    displayName: Type.Optional(settings.displayName),
    aliases: Type.Optional(settings.aliases),
    vacation: Type.Optional(settings.vacation),
    forwardTo: Type.Optional(settings.forwardTo),
    keepCopy: Type.Optional(settings.keepCopy),
    rules: Type.Optional(settings.rules),
    password: Type.Optional(
      Type.String({
        description:
          'Password of 8 to 256 characters. Without one, the server makes one and shows it in this response alone.',
      }),
    ),
    passwordLogin: Type.Optional(settings.passwordLogin),
    passwordRecovery: Type.Optional(settings.passwordRecovery),
    scramLogin: Type.Optional(settings.scramLogin),
    quotaBytes: Type.Optional(settings.quotaBytes),
    disabledCapabilities: Type.Optional(settings.disabledCapabilities),
  },
  { examples: [EXAMPLE] },
);
export type NewMailbox = Static<typeof newMailboxSchema>;

export const mailboxChangeSchema = Type.Partial(Type.Object({ ...settings, status }), {
  examples: [{ quotaBytes: 5_000_000_000 }],
});
export type MailboxChange = Static<typeof mailboxChangeSchema>;

export const mailboxFilter = {
  address: Type.Optional(
    Type.String({ description: 'Only the mailbox with exactly this address, as its own or as an alias.' }),
  ),
  domain: Type.Optional(Type.String({ description: 'Only mailboxes of this domain.' })),
};

const shownFields = {
  id: Type.String(),
  address: Type.String({ description: 'Address in lower case, with its domain in A-labels.' }),
  kind,
  members: Type.Array(Type.String()),
  displayName: settings.displayName,
  passwordLogin: settings.passwordLogin,
  passwordRecovery: settings.passwordRecovery,
  timeZone: settings.timeZone,
  aliases: Type.Array(Type.String(), { description: 'Its further addresses, in alphabetical order.' }),
  scramLogin: settings.scramLogin,
  ...filterFields,
  quotaBytes: Type.Integer(),
  status: Type.Enum(['active', 'suspended', 'damaged'], {
    description:
      '`suspended`: it takes no mail, so that senders try again later, and nobody may log in. `damaged`: the stored mail was found damaged; new mail waits until the operator has repaired it.',
  }),
  usedBytes: Type.Integer({ description: 'Size of the stored messages, some seconds ago.' }),
  messageCount: Type.Integer({ description: 'Number of the stored messages, some seconds ago.' }),
  lastLoginAt: Type.Union([Type.String(), Type.Null()], {
    description: 'Time of the last login, to the minute; null before the first.',
  }),
  disabledCapabilities: Type.Array(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

const SHOWN_EXAMPLE = {
  id: 'mbx_01khq3z5vgxw1r8t6n2m4c9b7d',
  ...EXAMPLE,
  kind: 'personal',
  members: [],
  passwordLogin: true,
  passwordRecovery: true,
  timeZone: 'Europe/Berlin',
  aliases: ['sales@shop.example'],
  scramLogin: true,
  ...NO_FILTERS,
  quotaBytes: 10_737_418_240,
  status: 'active',
  usedBytes: 48_120_334,
  messageCount: 1_204,
  lastLoginAt: '2026-03-02T07:45:00.000Z',
  disabledCapabilities: [],
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
};

export const mailboxSchema = Type.Object(shownFields, { title: 'Mailbox', examples: [SHOWN_EXAMPLE] });

/** The answer of a create request, which is the only one that contains the password. */
export const createdMailboxSchema = Type.Object(
  {
    ...shownFields,
    password: Type.Union([Type.String(), Type.Null()], {
      description:
        'The password that the server made; null when the request had one, and for a shared mailbox.',
    }),
  },
  {
    title: 'CreatedMailbox',
    examples: [
      {
        ...SHOWN_EXAMPLE,
        timeZone: null,
        usedBytes: 0,
        messageCount: 0,
        lastLoginAt: null,
        password: 'k3n8vq-7wz2md-x9c4tj-5rfh6p',
      },
    ],
  },
);

/** A mailbox with its aliases and members, in alphabetical order, and what it does with its mail by itself. */
export type MailboxDetails = MailboxRow & { aliases: string[]; members: string[]; filters: Filters };

/** Returns a mailbox as the API shows it. */
export function showMailbox(row: MailboxDetails): Static<typeof mailboxSchema> {
  return {
    id: row.id,
    address: row.address,
    kind: row.kind,
    members: row.members,
    displayName: row.displayName,
    passwordLogin: row.passwordLogin === 1,
    passwordRecovery: row.passwordRecovery === 1,
    timeZone: row.timeZone,
    aliases: row.aliases,
    scramLogin: row.scramVerifier !== null,
    vacation: row.filters.vacation,
    forwardTo: [...row.filters.forwardTo],
    keepCopy: row.filters.keepCopy,
    rules: [...row.filters.rules],
    quotaBytes: row.quotaBytes,
    status: row.status,
    usedBytes: row.usedBytes,
    messageCount: row.messageCount,
    lastLoginAt: row.lastLoginAt === null ? null : isoTime(row.lastLoginAt),
    disabledCapabilities: JSON.parse(row.disabledCapabilities) as string[],
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
