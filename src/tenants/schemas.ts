/** Schemas of `/v1/api-keys` and `/v1/plan`. */
import { type Static, Type } from 'typebox';
import type { ApiKeyRow, RequiredApproval } from '../db/tenant-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { MAX_ALLOWED_IPS, showAllowedIps } from './allowed-ips.ts';

/** Maximum length of a name. */
const MAX_NAME_CHARACTERS = 200;
export const keyName = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_CHARACTERS,
  pattern: PLAIN_TEXT,
});

export const mode = Type.Enum(['live', 'test'], {
  description: 'Live keys send mail; test keys only simulate it.',
});
export const permission = Type.Enum(['full_access', 'sending_access', 'read_only'], {
  description:
    'Requests that the key permits: all; only sending, retrieving and canceling emails; only reading.',
});
export const allowedIps = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: MAX_ALLOWED_IPS,
  description: 'Addresses and CIDR blocks from which the key may be used.',
});
export const REQUIRED_APPROVALS = [
  'broadcasts',
  'broadcasts_and_emails',
] as const satisfies readonly RequiredApproval[];
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(
  schema: Schema,
  description: string,
) => Type.Union([schema, Type.Null()], { description });

const domainId = orNull(
  Type.String(),
  'The only domain that the key reaches: it sends from there, and sees and changes what belongs to it; null: any.',
);
const allowedIpsOrNull = orNull(
  allowedIps,
  'Addresses and CIDR blocks from which the key may be used; null allows any.',
);
const expiresAt = orNull(Type.String(), 'ISO 8601 with an offset; null: never.');

const requiresApproval = orNull(
  Type.Enum([...REQUIRED_APPROVALS]),
  'Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. ' +
    '`broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none.',
);

const EXAMPLE = { name: 'shop', mode: 'live', permission: 'sending_access' };
const LIMITS = {
  domainId: 'dom_01khq3z5vgxw1r8t6n2m4c9b7d',
  allowedIps: ['192.0.2.7', '2001:db8::/32'],
  expiresAt: '2030-01-01T00:00:00.000Z',
};

export const newApiKeySchema = Type.Object(
  {
    name: keyName,
    mode: Type.Optional(
      Type.Enum(['live', 'test'], {
        description: 'Mode of the key. It must be the mode of the requesting key.',
      }),
    ),
    permission,
    domainId: Type.Optional(domainId),
    allowedIps: Type.Optional(allowedIpsOrNull),
    expiresAt: Type.Optional(expiresAt),
    requiresApproval: Type.Optional(requiresApproval),
  },
  { examples: [{ ...EXAMPLE, ...LIMITS }] },
);
export type NewApiKey = Static<typeof newApiKeySchema>;

export const apiKeyChangeSchema = Type.Object(
  { name: Type.Optional(keyName), requiresApproval: Type.Optional(requiresApproval) },
  { examples: [{ name: 'shop, old', requiresApproval: 'broadcasts' }] },
);

const fields = {
  id: Type.String(),
  name: Type.String(),
  mode,
  permission,
  hint: Type.String({
    description: 'The 8 characters after the prefix, by which the key can be recognised.',
  }),
  domainId,
  allowedIps: allowedIpsOrNull,
  createdAt: Type.String(),
  lastUsedAt: orNull(Type.String(), 'To the minute; null: not yet.'),
  expiresAt,
  requiresApproval,
  mailboxId: orNull(
    Type.String(),
    'The only mailbox that the key reaches: its owner, or the operator, made it for the messages. Such a key cannot be changed here. Null: none.',
  ),
};

const SHOWN = {
  id: 'key_01khq3z5vgxw1r8t6n2m4c9b7d',
  ...EXAMPLE,
  hint: 'Vb3kQ9xZ',
  ...LIMITS,
  createdAt: '2026-03-01T09:00:00.000Z',
  lastUsedAt: null,
  requiresApproval: null,
  mailboxId: null,
};

export const apiKeySchema = Type.Object(fields, { title: 'ApiKey', examples: [SHOWN] });

export const createdApiKeySchema = Type.Object(
  { ...fields, token: Type.String({ description: 'The key itself. It is not shown again.' }) },
  { title: 'CreatedApiKey', examples: [{ ...SHOWN, token: 'svc_prd_Vb3kQ9xZ...' }] },
);

/** Returns a key as the API shows it. */
export function showApiKey(row: ApiKeyRow) {
  const time = (value: number | null) => (value === null ? null : isoTime(value));
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    permission: row.permission,
    hint: row.hint,
    domainId: row.domainId,
    allowedIps: row.allowedIps === null ? null : showAllowedIps(row.allowedIps),
    createdAt: isoTime(row.createdAt),
    lastUsedAt: time(row.lastUsedAt),
    expiresAt: time(row.expiresAt),
    requiresApproval: row.requiresApproval,
    mailboxId: row.mailboxId,
  };
}

const countOrNull = (description: string) => orNull(Type.Integer({ minimum: 0 }), description);

export const planUsageSchema = Type.Object(
  {
    name: Type.String(),
    monthlyEmails: countOrNull('Maximum number of emails per calendar month; null for no limit.'),
    requestsPerSecond: countOrNull('Null: no limit.'),
    storedMegabytes: countOrNull(
      'Maximum size of the received mail and the reports that are stored, in units of 1,048,576 bytes; null for no limit.',
    ),
    usage: Type.Object({
      month: Type.String({ description: 'Calendar month in UTC.' }),
      emails: countOrNull(
        'Number of emails that live keys sent in the month; null for a plan without a limit, which does not count them.',
      ),
      remaining: countOrNull('Null: no limit.'),
      resetsAt: Type.String({ description: 'Time at which the next month begins.' }),
      storedBytes: Type.Integer({
        minimum: 0,
        description:
          'Size of the received mail that is stored, with 3 KB for the rows of each message, and of the reports about the domains.',
      }),
    }),
  },
  {
    title: 'Plan',
    examples: [
      {
        name: 'free',
        monthlyEmails: 3000,
        requestsPerSecond: 5,
        storedMegabytes: 1000,
        usage: {
          month: '2026-03',
          emails: 120,
          remaining: 2880,
          resetsAt: '2026-04-01T00:00:00.000Z',
          storedBytes: 73400320,
        },
      },
    ],
  },
);
