/**
 * Writes a line of the audit log for each command of the operator, which comes over the control socket: who, what, with which values, and how it
 * has ended. Commands that are refused for their form have none.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditOutcome, AuditRow } from '../../db/people-tables.ts';
import { newId } from '../../system/ids.ts';
import { OPERATOR_USER_HEADER } from '../../system/operator-user.ts';
import { detailsOf, shortened } from './details.ts';
import { type AuditApp, complete } from './record.ts';
import { beginAudit } from './store.ts';

/** Routes that change nothing, although they have a body. */
export const READING: readonly string[] = [
  'POST /backups/:name/verify',
  'POST /mailboxes/:name/check',
  'POST /mailboxes/:name/missing',
  'POST /outbound-routes/:name/check',
  'POST /port-probe',
  'POST /queue/count',
];

/** Fields of bodies and queries that are logged. Fields with secrets, contents and long lists are not among them. */
const LOGGED: readonly string[] = [
  ...['tenant', 'name', 'email', 'emailId', 'domain', 'site', 'address', 'from', 'to', 'id', 'folder'],
  ...[
    'verb',
    'all',
    'hold',
    'target',
    'kind',
    'class',
    'reason',
    'check',
    'silenced',
    'newKey',
    'newPassword',
    'connection',
    'force',
    'restriction',
    'curve',
  ],
  ...['plan', 'monthlyEmails', 'requestsPerSecond', 'storedMegabytes', 'weight', 'quotaBytes'],
  ...['mode', 'permission', 'requiresApproval', 'allowedIps', 'expiresAt', 'role', 'operator'],
];

const pages = new WeakSet<IncomingMessage>();

/** Marks a request of a page, whose action has a line of its own. */
export function actAsPage(raw: IncomingMessage): void {
  pages.add(raw);
}

type Lines = WeakMap<FastifyRequest, AuditRow['id'] | undefined>;

/** Records every command that a server of the operator answers. */
export function recordCommands(server: FastifyInstance, app: AuditApp): void {
  const lines: Lines = new WeakMap();
  server.addHook('preHandler', async (request) => {
    if (isChange(request) && !pages.has(request.raw)) lines.set(request, await begin(app, request));
  });
  // The outcome is stored before the answer is sent, because a command without a daemon closes the database once it has the answer.
  server.addHook('onSend', async (request, reply) => {
    await complete(app, lines.get(request), { outcome: outcomeOf(reply.statusCode) });
    lines.delete(request);
  });
}

function isChange(request: FastifyRequest): boolean {
  const isReadMethod = request.method === 'GET' || request.method === 'HEAD';
  return !isReadMethod && !READING.includes(routeOf(request));
}

/** Returns the method and the path of the route, without the values of its parameters. */
function routeOf({ method, routeOptions: { url = '' } }: FastifyRequest): string {
  return `${method} ${url}`;
}

/** Writes the line. A command also runs when its line cannot be written: the operator needs commands on a full disk. */
async function begin(
  { clock, db, log }: AuditApp,
  request: FastifyRequest,
): Promise<AuditRow['id'] | undefined> {
  const now = clock.now();
  const id = newId('adt', now);
  const action = `command ${routeOf(request)}`;
  try {
    const beginning = await db.commit(beginAudit, {
      id,
      at: now,
      tenantId: null,
      personId: null,
      mailboxId: null,
      actor: userOf(request),
      address: '',
      action,
      target: shortened(Object.values(request.params as Record<string, string>).join(' ')),
      mode: null,
      details: detailsOf(loggedValues(request)),
    });
    return beginning === 'begun' ? id : undefined;
  } catch (error) {
    log.error({ err: error, action }, 'a line of the audit log could not be stored');
    return undefined;
  }
}

/** Returns the name of the user at the command line, as the command says it. */
function userOf({ headers }: FastifyRequest): string {
  return shortened(decodeSafely(String(headers[OPERATOR_USER_HEADER] ?? '')));
}

function decodeSafely(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function loggedValues({ query, body }: FastifyRequest): [string, string][] {
  const isObject = typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
  const values: Record<string, unknown> = { ...(query as object), ...(isObject && body) };
  return LOGGED.map((name) => [name, textOf(values[name])]);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}

/** Statuses from here on are refusals, and from the second on failures (RFC 9110 section 15). */
const [REFUSED, FAILED] = [400, 500];

function outcomeOf(status: number): AuditOutcome {
  if (status >= FAILED) return 'failed';
  return status >= REFUSED ? 'refused' : 'done';
}
