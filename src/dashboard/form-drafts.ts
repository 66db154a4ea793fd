/**
 * Drafts around the forms of pages: a page shows what its reader has entered before, scripts keep what is entered, and the form of a session that
 * has ended is kept for its owner.
 */
import type { FastifyReply } from 'fastify';
import type { Form } from '../http/pages/form-body.ts';
import { notFound } from '../system/errors.ts';
import { MAX_DRAFT_BYTES } from './drafts/drafts.ts';
import { DISCARD_ACTION, KEEP_ACTION, SAID } from './field-names.ts';
import type { Assets } from './frame/assets.ts';
import { addressOf } from './frame/forms.tsx';
import type { Area, BaseContext, Contexts, DashboardApp, PageDefinition } from './page.ts';
import { readCookie } from './people/cookie.ts';
import { sendAnswer } from './send-answer.tsx';
import { type Asked, contextFor, LoginNeeded, requireRight, type Servers } from './viewer.ts';

/** Maximum size of a form that is read although its session has ended. Encoded as a form, a draft is up to three times as large. */
const MAX_SENT_BYTES = 4 * MAX_DRAFT_BYTES;

type DraftsApp = DashboardApp & { servers: Servers; assets: Assets; pages: readonly PageDefinition[] };
type Sent = { asked: Asked; form: Form };

type FormDrafts = {
  /** Adds to a context what the person has entered on the page before, and has not sent. */
  added(context: Contexts[Area]): Promise<Contexts[Area]>;
  /**
   * Returns the context of a form. The form of a session that has ended by time is kept for its owner, who logs in again.
   * @throws LoginNeeded, AppError not_found
   */
  contextOf(page: PageDefinition, sent: Sent): Promise<Contexts[Area]>;
  /** Returns true for a form of a session that has ended by time, when it is small enough to be kept. */
  mayKeep(asked: Asked): Promise<boolean>;
  /** Throws away the draft of a form that was sent. The form has had its effect by then, so that a failure here is none of the form. */
  dropSent(context: BaseContext & Pick<Contexts['account'], 'session'>, form: Form): Promise<void>;
  /** Keeps a draft, or throws it away, on any page with forms. */
  run(page: PageDefinition, sent: Sent & { name: string }): Promise<FastifyReply>;
};

/** Returns true for an action that every page with forms has. */
export function isDraftAction(name: string): boolean {
  return name === KEEP_ACTION || name === DISCARD_ACTION;
}

export function createFormDrafts(app: DraftsApp): FormDrafts {
  const endedSession = ({ request, channel }: Asked) =>
    app.people.findEnded(readCookie(request, channel, 'session') ?? '');

  async function contextOf(page: PageDefinition, { asked, form }: Sent): Promise<Contexts[Area]> {
    try {
      return await contextFor(app, app.servers, { area: page.area, asked });
    } catch (error) {
      if (!(error instanceof LoginNeeded)) throw error;
      const session = await endedSession(asked);
      const address = addressIn(asked.request.url);
      const isKept = session !== undefined && (await app.drafts.keep(session, address, form));
      throw isKept ? new LoginNeeded(page.area, address) : error;
    }
  }

  return {
    contextOf,
    async mayKeep(asked) {
      const bytes = Number(asked.request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
      return bytes <= MAX_SENT_BYTES && (await endedSession(asked)) !== undefined;
    },
    async added(context) {
      if (!('session' in context)) return context;
      return { ...context, drafts: await app.drafts.find(context.session, addressOf(context)) };
    },
    async dropSent(context, form) {
      try {
        await app.drafts.drop(context.session, addressOf(context), form);
      } catch (error) {
        app.log.error({ err: error }, 'the draft of a form that was sent could not be thrown away');
      }
    },
    async run(page, { asked, form, name }) {
      const context = await contextOf(page, { asked, form });
      requireRight(context, page.needs ?? 'read');
      if (!('session' in context)) throw notFound('Action');
      const { reply } = asked;
      const address = addressOf(context);
      if (name === DISCARD_ACTION) {
        await app.drafts.drop(context.session, address, form);
        return sendAnswer(app, { page, context, reply }, { to: address, said: 'draftDiscarded' });
      }
      if (!(await app.drafts.keep(context.session, address, form))) throw notFound('Action');
      return reply.code(204).send();
    },
  };
}

/** Returns the address of a page that a request names, as its forms do. */
function addressIn(url: string): string {
  const [path = '', search = ''] = url.split('?', 2);
  const query = new URLSearchParams(search);
  query.delete(SAID);
  return addressOf({ path, query });
}
