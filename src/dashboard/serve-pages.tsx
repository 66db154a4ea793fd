/**
 * Makes routes of the pages: a GET shows a page, and a POST runs one of its actions. Everything that must hold for every page is here: who may
 * open it, that a form comes from our own pages, that it is run once, that it is in the audit log, and the headers of the answer.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Form } from '../http/pages/form-body.ts';
import { renderPage } from '../http/pages/render.ts';
import { AppError, notFound } from '../system/errors.ts';
import { createLru } from '../system/lru.ts';
import { auditOf } from './audit/record.ts';
import { recordAudit } from './audit/store.ts';
import type { Assets } from './frame/assets.ts';
import { ACTION_FIELD, actionOf, ONCE_FIELD } from './frame/forms.tsx';
import { Layout, type MenuEntry, tenantPath, type Viewer } from './frame/layout.tsx';
import { requireOwnForm } from './own-form.ts';
import {
  type Answer,
  type Area,
  type Contexts,
  type DashboardApp,
  fieldOf,
  MENU_GROUPS,
  type PageDefinition,
} from './page.ts';
import { channelOf } from './people/cookie.ts';
import { FRAME_POLICY, pageHeaders } from './policy.ts';
import { type Asked, contextFor, requireRight, type Servers } from './viewer.ts';

/** Paths of the areas. */
const PREFIXES: Record<Area, string> = {
  public: '',
  account: '/account',
  tenant: '/t/:tenant/:mode',
  operator: '/operator',
  mailbox: '/mailbox',
};

/** Returns the pattern of a page's path. */
export function routeOf({ area, path }: Pick<PageDefinition, 'area' | 'path'>): string {
  return `${PREFIXES[area]}${path}` || '/';
}

/** Maximum number of forms that are remembered so that none runs twice. */
const MAX_REMEMBERED_FORMS = 10_000;

type ServedApp = DashboardApp & { servers: Servers; assets: Assets };

/** Registers the routes of all pages. */
export function servePages(server: FastifyInstance, app: ServedApp, pages: readonly PageDefinition[]): void {
  const running = createLru<string, Promise<Answer>>(MAX_REMEMBERED_FORMS);
  const { trustedProxies } = app.config.http;

  for (const page of pages) {
    const route = routeOf(page);
    server.get(route, async (request, reply) => {
      const asked: Asked = { request, reply, channel: channelOf(request, trustedProxies) };
      const context = await contextFor(app, app.servers, { area: page.area, asked });
      requireRight(context, page.needs ?? 'read');
      return send({ page, context, reply }, await page.show(context as never));
    });
    if (!page.actions) continue;
    const { maxBytes: bodyLimit, maxFiles } = page.upload ?? {};
    const options = {
      ...(bodyLimit !== undefined && { bodyLimit }),
      config: { ...(maxFiles !== undefined && { maxFiles }) },
    };
    server.post<{ Body: Form }>(route, options, async (request, reply) => {
      requireOwnForm(request);
      return runAction(page, { request, reply, form: request.body });
    });
  }

  async function runAction(
    page: PageDefinition,
    { request, reply, form }: { request: FastifyRequest; reply: FastifyReply; form: Form },
  ): Promise<FastifyReply> {
    const { name } = actionOf(form);
    const action = page.actions && Object.hasOwn(page.actions, name) ? page.actions[name] : undefined;
    if (!action) throw notFound('Action');
    // An action that changes nothing may run as often as somebody likes, with the same form.
    const once = action.isAudited === false ? '' : fieldOf(form, ONCE_FIELD);
    const channel = channelOf(request, trustedProxies);
    const asked: Asked = { request, reply, channel, ...(once !== '' && { once }) };
    const context = await contextFor(app, app.servers, { area: page.area, asked });
    requireRight(context, action.needs ?? (page.area === 'tenant' ? 'write' : 'read'));
    const owner = 'session' in context ? context.session.id : request.clientAddress;
    const key = `${owner} ${once}`;
    const run = async () => {
      const answer = await action.run(context as never, form);
      if (action.isAudited !== false && 'session' in context)
        await app.db.commit(recordAudit, auditOf(app, { page, name, context, form }));
      return answer;
    };
    const before = once === '' ? undefined : running.get(key);
    const answering = before ?? run();
    if (once !== '') running.set(key, answering);
    try {
      return send({ page, context, reply }, await answering);
    } catch (refusal) {
      running.delete(key);
      if (!(refusal instanceof AppError)) throw refusal;
      const failed = { ...context, failed: { action: fieldOf(form, ACTION_FIELD), refusal, form } };
      reply.code(refusal.code === 'restricted_api_key' ? 403 : 422);
      return send({ page, context: failed as never, reply }, await page.show(failed as never));
    }
  }

  function send(
    { page, context, reply }: { page: PageDefinition; context: Contexts[Area]; reply: FastifyReply },
    answer: Answer,
  ): FastifyReply {
    void reply.headers(pageHeaders(reply.request, app.config));
    if ('to' in answer) return reply.redirect(locationOf(answer), 303);
    if ('file' in answer) return sendFile(reply, answer.file);
    if ('frame' in answer) {
      return reply
        .headers({
          'content-security-policy': FRAME_POLICY,
          'x-frame-options': 'SAMEORIGIN',
          'content-type': 'text/html; charset=utf-8',
        })
        .send(answer.frame);
    }
    const viewer = viewerOf(page.area, context);
    const html = renderPage(
      <Layout
        context={context}
        title={answer.title}
        pathOf={app.assets.pathOf}
        menu={menuOf(pages, page.area, context)}
        {...(viewer && { viewer })}
      >
        {answer.body}
      </Layout>,
    );
    return reply.type('text/html; charset=utf-8').send(html);
  }
}

function locationOf({ to, said }: Extract<Answer, { to: string }>): string {
  if (said === undefined) return to;
  return `${to}${to.includes('?') ? '&' : '?'}said=${said}`;
}

function sendFile(
  reply: FastifyReply,
  { name, mediaType, bytes }: Extract<Answer, { file: object }>['file'],
): FastifyReply {
  return reply
    .headers({
      'content-type': mediaType,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'content-security-policy': FRAME_POLICY,
    })
    .send(bytes);
}

function viewerOf(area: Area, context: Contexts[Area]): Viewer | undefined {
  if ('tenant' in context) return { area: 'tenant', ...context };
  if ('mailbox' in context) return { area: 'mailbox', address: context.mailbox.address };
  if ('person' in context) return { area: area === 'operator' ? 'operator' : 'account', ...context };
  return undefined;
}

/** Returns the navigation of an area: its pages that have an entry and that the person may open. */
function menuOf(pages: readonly PageDefinition[], area: Area, context: Contexts[Area]): readonly MenuEntry[] {
  const prefix = 'tenant' in context ? tenantPath(context.tenant.tenantName, context.mode) : PREFIXES[area];
  const entries = pages.flatMap((page) => {
    const { area: of, menu, needs = 'read', path } = page;
    if (of !== area || !menu || ('can' in context && !context.can(needs))) return [];
    return [{ group: menu.group, label: menu.label(context.texts), path: prefix + path }];
  });
  return entries.sort((one, other) => MENU_GROUPS.indexOf(one.group) - MENU_GROUPS.indexOf(other.group));
}
