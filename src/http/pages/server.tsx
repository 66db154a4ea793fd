/**
 * An HTTP app for browsers: HTML pages, forms and files. It has memory of its own, and is usually served for host names
 * of its own (transport/host-names.ts), so that a flood of visitors takes nothing from the API.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { System } from '../../system/system.ts';
import { asTransportRefusal, startRefusal } from '../transport/refusal.ts';
import { createTransport, type HttpOptions, type HttpServer } from '../transport/server.ts';
import { readForms } from './form-body.ts';
import { Page } from './page.tsx';
import { renderPage } from './render.ts';

/** Maximum size of a form, unless its route sets a limit of its own. */
export const MAX_FORM_BYTES = 1024 * 1024;

/**
 * Headers of every response, which a route may replace: nothing but stylesheets of this host is loaded, nothing is framed,
 * nothing is indexed, and forms are sent to this host alone (CSP 3).
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

/** A request that was refused or has failed, as an error page shows it. */
export type Failure = { request: FastifyRequest; statusCode: number; title: string; message: string };

type PagesOptions = HttpOptions & {
  /** Returns the page of a failure. By default it is plain and in English. */
  errorPage?: (failure: Failure) => VNode;
  /** Sends an error as a response, in the place of an error page. */
  sendError?: (error: unknown, reply: FastifyReply) => FastifyReply;
};

/** Creates the app, which does not listen. Routes are registered on it afterwards. */
export function createPagesServer(
  system: Pick<System, 'clock' | 'log'>,
  { errorPage = showPlainError, ...options }: PagesOptions = {},
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
    const { statusCode } = reply;
    const title = STATUS_CODES[statusCode] ?? 'Error';
    const message = refusal?.message ?? 'The server failed to process the request.';
    return reply
      .headers({ ...HEADERS, 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' })
      .send(renderPage(errorPage({ request, statusCode, title, message })));
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

/** Returns the page, which has neither scripts nor styles. */
function showPlainError({ request, title, message }: Failure): VNode {
  return (
    <Page title={title}>
      <main>
        <h1>{title}</h1>
        <p>{message}</p>
        <p>
          <small>Request {request.id}</small>
        </p>
      </main>
    </Page>
  );
}
