/**
 * An HTTP app for browsers: HTML pages, forms and files. It has memory of its own, and is usually served for host names
 * of its own (transport/host-names.ts), so that a flood of visitors takes nothing from the API.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { System } from '../../system/system.ts';
import { asTransportRefusal, startRefusal } from '../transport/refusal.ts';
import { createTransport, type HttpOptions, type HttpServer } from '../transport/server.ts';
import { readForms } from './form-body.ts';
import { Page } from './page.tsx';
import { renderPage } from './render.ts';

/** Maximum size of a form, unless its route sets a limit of its own. */
export const MAX_FORM_BYTES = 1024 * 1024;

/**
 * Headers of every response, which a route may replace: nothing is loaded, nothing is framed, nothing is indexed, and
 * forms are sent to this host alone (CSP 3).
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

type PagesOptions = HttpOptions & {
  /** Sends an error as a response, in the place of a page without styles. */
  sendError?: (error: unknown, reply: FastifyReply) => FastifyReply;
};

/** Creates the app, which does not listen. Routes are registered on it afterwards. */
export function createPagesServer(
  system: Pick<System, 'clock' | 'log'>,
  options: PagesOptions = {},
): HttpServer {
  const sendErrorPage = (error: unknown, reply: FastifyReply): FastifyReply => {
    const { request } = reply;
    const refusal = asTransportRefusal(error, 'a form');
    if (refusal) startRefusal(reply, refusal);
    else {
      system.log.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        'request failed',
      );
      reply.code(500);
    }
    const title = STATUS_CODES[reply.statusCode] ?? 'Error';
    const message = refusal?.message ?? 'The server failed to process the request.';
    return reply
      .headers({ ...HEADERS, 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' })
      .send(renderPage(<ErrorPage title={title} message={message} requestId={request.id} />));
  };
  const { sendError = sendErrorPage } = options;
  const server = createTransport(system, { name: 'pages', maxBodyBytes: MAX_FORM_BYTES, sendError }, options);
  server.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS);
    done();
  });
  readForms(server);
  return server;
}

type ErrorPageProps = { title: string; message: string; requestId: string };

/** Returns the page, which has neither scripts nor styles. */
function ErrorPage({ title, message, requestId }: ErrorPageProps) {
  return (
    <Page title={title}>
      <main>
        <h1>{title}</h1>
        <p>{message}</p>
        <p>
          <small>Request {requestId}</small>
        </p>
      </main>
    </Page>
  );
}
