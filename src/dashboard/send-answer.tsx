/** Sends what a page or an action has answered: a page in the frame of the dashboard, a redirect, a file, or foreign HTML. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { renderPage } from '../http/pages/render.ts';
import { SAID } from './field-names.ts';
import { inertHtml } from './foreign-html.ts';
import type { Assets } from './frame/assets.ts';
import { Layout, type MenuEntry, tenantPath, type Viewer } from './frame/layout.tsx';
import { type Answer, type Area, type Contexts, MENU_GROUPS, type PageDefinition } from './page.ts';
import { FRAME_POLICY, pageHeaders } from './policy.ts';
import { PREFIXES } from './routes.ts';
import { VERSION_HEADER } from './version-header.ts';

type SendingApp = { assets: Assets; config: Pick<Config, 'http'>; pages: readonly PageDefinition[] };
type Asked = { page: PageDefinition; context: Contexts[Area]; reply: FastifyReply };

/** Sends an answer. */
export function sendAnswer(
  { assets, config, pages }: SendingApp,
  { page, context, reply }: Asked,
  answer: Answer,
): FastifyReply {
  void reply.headers({ ...pageHeaders(reply.request, config), [VERSION_HEADER]: assets.version() });
  if ('to' in answer) return sendRedirect(reply, locationOf(answer));
  if ('file' in answer) return sendFile(reply, answer.file);
  if ('frame' in answer) {
    return reply
      .headers({
        'content-security-policy': FRAME_POLICY,
        'x-frame-options': 'SAMEORIGIN',
        'content-type': 'text/html; charset=utf-8',
      })
      .send(inertHtml(answer.frame));
  }
  const viewer = viewerOf(page.area, context);
  const html = renderPage(
    <Layout
      context={context}
      title={answer.title}
      assets={assets}
      menu={menuOf(pages, page, context)}
      hasCharts={answer.hasCharts === true}
      hasPasskeys={answer.hasPasskeys === true}
      isLive={answer.isLive === true}
      {...(viewer && { viewer })}
    >
      {answer.body}
    </Layout>,
  );
  return reply.type('text/html; charset=utf-8').send(html);
}

/**
 * Leads to another page. A script that has sent a form is told where to go, because it would otherwise follow by itself, and load the page
 * twice.
 */
export function sendRedirect(reply: FastifyReply, to: string): FastifyReply {
  if (isFromScript(reply.request)) return reply.code(204).header('location', to).send();
  return reply.redirect(to, 303);
}

/** Returns true for a form that a script has sent, and for a part of a page that it asks for. */
function isFromScript({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && headers[VERSION_HEADER] !== undefined;
}

function locationOf({ to, said }: Extract<Answer, { to: string }>): string {
  if (said === undefined) return to;
  return `${to}${to.includes('?') ? '&' : '?'}${SAID}=${said}`;
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

/** Returns the navigation for a page: the pages of its area that have an entry and that the person may open. */
function menuOf(
  pages: readonly PageDefinition[],
  { area, within }: Pick<PageDefinition, 'area' | 'within'>,
  context: Contexts[Area],
): readonly MenuEntry[] {
  const prefix = 'tenant' in context ? tenantPath(context.tenant.tenantName, context.mode) : PREFIXES[area];
  const entries = pages.flatMap((page) => {
    const { area: of, menu, needs = 'read', path } = page;
    if (of !== area || !menu || ('can' in context && !context.can(needs))) return [];
    const entry = { group: menu.group, label: menu.label(context.texts), path: prefix + path };
    return [{ ...entry, ...(within !== undefined && { isPresent: path === within }) }];
  });
  return entries.sort((one, other) => MENU_GROUPS.indexOf(one.group) - MENU_GROUPS.indexOf(other.group));
}
