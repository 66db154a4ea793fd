/**
 * The routes behind the links of confirmation mail. Programs that check links read the page as often as they like; only the
 * button of the page confirms.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { type Confirmation, confirmContact, findConfirmation } from '../audiences/contacts/confirm.ts';
import { optInOf } from '../audiences/opt-in/settings.ts';
import { findAudience } from '../audiences/store.ts';
import { findBranding } from '../branding/store.ts';
import { senderName } from '../confirmations/mail.ts';
import type { Form } from '../http/pages/form-body.ts';
import { renderPage } from '../http/pages/render.ts';
import type { ConfirmationToken } from '../links/confirm-token.ts';
import { CONFIRM_PATH, type Links } from '../links/links.ts';
import { parseMailbox } from '../mail/address.ts';
import { notFound } from '../system/errors.ts';
import { ACTION, CONFIRM, ConfirmationPage } from './confirmation-page.tsx';
import { FORM_ROUTE, PAGE_HEADERS, unreadableForm } from './form-route.ts';
import { chooseLanguage } from './language.ts';
import { maskAddress } from './mask-address.ts';

/** The parts of the app behind the public pages. */
export type PagesApp = Pick<App, 'clock' | 'db'> & { links: Links };

/** Maximum length of a user agent that is kept as a part of the proof. */
const MAX_USER_AGENT_CHARACTERS = 500;
/** Status of the page when there is nothing to confirm any more (RFC 9110 section 15.5.11). */
const GONE = 410;

/** Adds the routes to the server of the public pages. */
export function serveConfirmation(server: FastifyInstance, app: PagesApp): void {
  type Route = { Params: { token: string } };
  const path = `${CONFIRM_PATH}/:token`;
  server.get<Route>(path, async (request, reply) => {
    const token = requireToken(app, request.params.token);
    const state = await findConfirmation(app.db.read, { token, now: app.clock.now() });
    return show(app, { request, reply }, { token, state });
  });
  server.post<Route & { Body?: Form }>(path, FORM_ROUTE, async (request, reply) => {
    const token = requireToken(app, request.params.token);
    if (request.body?.values(ACTION)[0] !== CONFIRM) throw unreadableForm();
    const state = await app.db.commit(confirmContact, {
      token,
      now: app.clock.now(),
      ip: request.clientAddress,
      userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
    });
    return show(app, { request, reply }, { token, state });
  });
}

/**
 * Returns what a token confirms.
 * @throws AppError not_found
 */
function requireToken({ links }: PagesApp, text: string): ConfirmationToken {
  const token = links.openConfirmToken(text);
  if (!token) throw notFound('Page');
  return token;
}

type Exchange = { request: FastifyRequest; reply: FastifyReply };
type Shown = { token: ConfirmationToken; state: Confirmation };

async function show(
  app: PagesApp,
  { request, reply }: Exchange,
  { token, state }: Shown,
): Promise<FastifyReply> {
  const page = (
    <ConfirmationPage
      language={chooseLanguage(request.headers['accept-language'])}
      branding={await findBranding(app.db.read, token.tenantId)}
      address={maskAddress(token.address)}
      sender={await findSender(app, token)}
      state={state}
    />
  );
  return reply
    .code(state === 'gone' ? GONE : 200)
    .headers(PAGE_HEADERS)
    .send(renderPage(page));
}

/** Returns the name of the sender of the audience, or undefined when it has none. */
async function findSender(
  { db }: PagesApp,
  { tenantId, audienceId }: ConfirmationToken,
): Promise<string | undefined> {
  const audience = await findAudience(db.read, tenantId, audienceId);
  const from = audience && parseMailbox(optInOf(audience)?.from ?? '');
  return from && senderName(from);
}
