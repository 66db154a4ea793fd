/**
 * Makes routes of the pages: a GET shows a page, and a POST runs one of its actions. Everything that must hold for every page is here: who may
 * open it, that a form comes from our own pages, that it is run once, that it is in the audit log, and the headers of the answer.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Form } from '../http/pages/form-body.ts';
import { channelOf } from '../http/transport/channel.ts';
import { startRefusal } from '../http/transport/refusal.ts';
import { AppError, type ErrorCode, notFound } from '../system/errors.ts';
import { shownValues } from './audit/before.tsx';
import { recorded } from './audit/record.ts';
import { ACTION_FIELD } from './field-names.ts';
import { createFormDrafts, isDraftAction } from './form-drafts.ts';
import type { Assets } from './frame/assets.ts';
import { actionOf } from './frame/forms.tsx';
import { requireOwnForm, requireThisVersion } from './own-form.ts';
import { type Area, type DashboardApp, fieldOf, type PageDefinition } from './page.ts';
import { readCookie } from './people/cookie.ts';
import { routeOf } from './routes.ts';
import { sendAnswer } from './send-answer.tsx';
import { createRunOnce, onceOf } from './sent-forms/run-once.ts';
import { type Asked, contextFor, LoginNeeded, requireRight, type Servers } from './viewer.ts';

type ServedApp = DashboardApp & { servers: Servers; assets: Assets };

/** Registers the routes of all pages. */
export function servePages(server: FastifyInstance, base: ServedApp, pages: readonly PageDefinition[]): void {
  const app = { ...base, pages };
  const runOnce = createRunOnce(app);
  const drafts = createFormDrafts(app);
  for (const page of pages) {
    const route = routeOf(page);
    server.get(route, async (request, reply) => {
      const context = await contextOf(page, request, reply);
      requireRight(context, page.needs ?? 'read');
      const shown = page.actions ? await drafts.added(context) : context;
      return sendAnswer(app, { page, context: shown, reply }, await page.show(shown as never));
    });
    if (!page.actions) continue;
    const { maxBytes: bodyLimit, maxFiles } = page.upload ?? {};
    const options = {
      ...(bodyLimit !== undefined && { bodyLimit }),
      config: { ...(maxFiles !== undefined && { maxFiles }) },
      // A form of nobody is refused before its body takes memory.
      onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
        requireOwnForm(request);
        requireThisVersion(request, app.assets.version());
        if (page.area !== 'public') await requireSession(page.area, request);
        // Files take memory, which nobody gets without the right to send them.
        if (page.upload && !(await drafts.mayKeep(askedOf(request, reply))))
          requireRight(await contextOf(page, request, reply), page.needs ?? 'write');
      },
    };
    server.post<{ Body?: Form }>(route, options, async (request, reply) => {
      if (!request.body) throw notFound('Action');
      return runAction(page, { asked: askedOf(request, reply), form: request.body });
    });
  }

  function contextOf({ area }: PageDefinition, request: FastifyRequest, reply: FastifyReply) {
    return contextFor(app, app.servers, { area, asked: askedOf(request, reply) });
  }

  function askedOf(request: FastifyRequest, reply: FastifyReply): Asked {
    return { request, reply, channel: channelOf(request, app.config.http.trustedProxies) };
  }

  async function requireSession(area: Area, request: FastifyRequest): Promise<void> {
    const token = readCookie(request, channelOf(request, app.config.http.trustedProxies), 'session');
    if (token === undefined || !(await app.people.knows(token))) throw new LoginNeeded(area);
  }

  async function runAction(
    page: PageDefinition,
    { asked, form }: { asked: Asked; form: Form },
  ): Promise<FastifyReply> {
    const { reply } = asked;
    const { name } = actionOf(form);
    if (isDraftAction(name)) return drafts.run(page, { asked, form, name });
    const action = page.actions && Object.hasOwn(page.actions, name) ? page.actions[name] : undefined;
    if (!action) throw notFound('Action');
    // An action that changes nothing may run as often as somebody likes, with the same form.
    const once = action.isAudited === false ? '' : onceOf(form, asked.request.url);
    const keyed = { ...asked, ...(once !== '' && { once }) };
    const context = await drafts.contextOf(page, { asked: keyed, form });
    requireRight(context, action.needs ?? (page.area === 'tenant' ? 'write' : 'read'));
    const run = async () => {
      const { logs, isAudited = true } = action;
      if (!isAudited) return action.run(context as never, form, nobodyActs);
      const hasBefore = logs !== undefined && 'session' in context;
      const before = hasBefore ? await shownValues(page, context, form) : {};
      const names = await action.names?.(context as never, form);
      const answer = await recorded(app, { page, name, context, form, logs, before, names }, (actsAs) =>
        action.run(context as never, form, actsAs),
      );
      if ('session' in context) await drafts.dropSent(context, form);
      return answer;
    };
    // The answer to a login sets a cookie, which the answer to its repetition must also do.
    const isOnce = 'session' in context && once !== '';
    try {
      const sent = isOnce && { session: context.session, once, formBytes: sizeOf(asked.request) };
      const answer = await (sent ? runOnce(sent, run) : run());
      return sendAnswer(app, { page, context, reply }, answer);
    } catch (refusal) {
      if (!(refusal instanceof AppError)) throw refusal;
      const failed = { ...context, failed: { action: fieldOf(form, ACTION_FIELD), refusal, form } };
      startRefused(reply, refusal);
      return sendAnswer(app, { page, context: failed as never, reply }, await page.show(failed as never));
    }
  }
}

/** Stands for the beginning of a line where there is none. */
async function nobodyActs(): Promise<void> {}

/** Refusals that say nothing about what was entered: the same form may succeed later. */
const SHED: readonly ErrorCode[] = ['rate_limited', 'unavailable'];

/** Sets the status and the headers of a page that shows why its form was refused. */
function startRefused(reply: FastifyReply, refusal: AppError): void {
  if (SHED.includes(refusal.code)) startRefusal(reply, refusal);
  else reply.code(refusal.code === 'restricted_api_key' ? 403 : 422);
}

/** Returns the size of a form as its header says it; infinite for one that does not. */
function sizeOf({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
}
